// Who may do what only one process should: a lease ends by itself, so that a standby takes over from a dead holder.

/**
 * Every write under a lease is guarded by a position or an id of its own, so two holders for a moment do each other's
 * work again and harm nothing: no fencing token is needed.
 */
export interface Leases {
  /**
   * True when `holder` has the lease from now on for `ttlMs`: it was free, its time was over, or it was `holder`'s
   * already (a renewal). False while another has it.
   * @throws CoordinationUnavailable, StoreUnavailable
   */
  hold(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Frees it at once if `holder` has it. @throws CoordinationUnavailable, StoreUnavailable */
  release(name: string, holder: string): Promise<void>;
}
