// Port for requests to be upgraded to the Developer plan.

export interface Billing {
  /** Idempotent: a pending request keeps its time. */
  requestUpgrade(accountId: string): Promise<void>;
  /** Time of the pending request, ISO 8601; undefined when there is none. */
  waitingSince(accountId: string): Promise<string | undefined>;
  withdraw(accountId: string): Promise<void>;
}
