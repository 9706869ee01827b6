// How an account comes to the Developer plan and back; what stands behind it may be a person or a payment service.

/** What to do when someone asks to upgrade: wait for the operator, or go and pay there. */
export type UpgradeStep = { kind: "requested"; at: string } | { kind: "checkout"; url: string };

export interface Billing {
  /** For the page, before anyone asks. `manual`: a person approves it. */
  readonly name: "manual";
  /** Safe to repeat: a request that waits stays as it is. */
  requestUpgrade(accountId: string): Promise<UpgradeStep>;
  /** Since when the account waits for its upgrade, ISO 8601; undefined when it doesn't. */
  waitingSince(accountId: string): Promise<string | undefined>;
  withdraw(accountId: string): Promise<void>;
}
