// Who may do what only one process should: a lease ends by itself, so that a standby takes over from a dead holder.

/** `token` rises with every new holder of the name, so that a store can refuse one that came too late. */
export type Lease = { name: string; holder: string; token: number };

export interface Leases {
  /**
   * The lease for `ttlMs`, or undefined while another has it. A holder that asks again before its end is refused too:
   * it renews.
   * @throws CoordinationUnavailable
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** From now for `ttlMs`; false when it is lost, as it may be from its end on. @throws CoordinationUnavailable */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Frees it at once; nothing happens when it had ended. @throws CoordinationUnavailable */
  release(lease: Lease): Promise<void>;
}
