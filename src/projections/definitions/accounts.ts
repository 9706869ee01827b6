// Accounts with tier and status, for authentication and the command line.
import type { Tier } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. `timeZone`: IANA name, null until one is chosen. */
export type AccountDocument = Document & {
  tier: Tier;
  status: "open" | "closed";
  openedAt: string;
  timeZone: string | null;
};

export const accounts: Projection<AccountDocument> = {
  name: "accounts",
  collection: { name: "accounts", indexes: [["openedAt"]] },
  handles: ["AccountOpened", "TierChanged", "TimeZoneChosen", "AccountClosed"],
  key: (event) => ("accountId" in event.data ? event.data.accountId : undefined),
  empty: (event) => ({ tier: "free", status: "open", openedAt: event.data.at, timeZone: null }),
  evolve(account, event) {
    switch (event.type) {
      case "AccountOpened":
        return { tier: event.data.tier, status: "open", openedAt: event.data.at, timeZone: null };
      case "TierChanged":
        return { ...account, tier: event.data.to };
      case "TimeZoneChosen":
        return { ...account, timeZone: event.data.timeZone };
      case "AccountClosed":
        return { ...account, status: "closed" };
      default:
        return account;
    }
  },
};
