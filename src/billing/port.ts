// Port for upgrades to the Developer plan; an adapter may be the operator's approval or a payment service.

/** The next step of an upgrade: wait for the operator, or pay at `url`. */
export type UpgradeStep = { kind: "requested"; at: string } | { kind: "checkout"; url: string };

export interface Billing {
  /** `manual`: the operator approves requests. */
  readonly name: "manual";
  /** Idempotent: a pending request keeps its time. */
  requestUpgrade(accountId: string): Promise<UpgradeStep>;
  /** Time of the pending request, ISO 8601; undefined when there is none. */
  waitingSince(accountId: string): Promise<string | undefined>;
  withdraw(accountId: string): Promise<void>;
}
