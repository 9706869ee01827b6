// Port for leases: they let one process at a time run a singleton job, and expire so that a standby can take over.
/**
 * No fencing token is needed: every write under a lease is guarded by a position or an id, so two holders for a short
 * time only repeat each other's work.
 */
export interface Leases {
  /**
   * Acquires or renews the lease for `ttlMs`: true when it was free, expired or already `holder`'s. False while another
   * holder has it.
   * @throws StoreUnavailable
   */
  hold(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Releases the lease if `holder` has it. @throws StoreUnavailable */
  release(name: string, holder: string): Promise<void>;
}
