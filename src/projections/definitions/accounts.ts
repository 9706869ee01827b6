// Accounts with tier and status, for authentication and the command line.
import type { Tier } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. */
export type AccountDocument = Document & { tier: Tier; status: "open" | "closed"; openedAt: string };

export const accounts: Projection<AccountDocument> = {
  name: "accounts",
  collection: { name: "accounts", indexes: [["openedAt"]] },
  handles: ["AccountOpened", "TierChanged", "AccountClosed"],
  key: (event) => ("accountId" in event.data ? event.data.accountId : undefined),
  empty: (event) => ({ tier: "free", status: "open", openedAt: event.data.at }),
  evolve(account, event) {
    switch (event.type) {
      case "AccountOpened":
        return { tier: event.data.tier, status: "open", openedAt: event.data.at };
      case "TierChanged":
        return { ...account, tier: event.data.to };
      case "AccountClosed":
        return { ...account, status: "closed" };
      default:
        return account;
    }
  },
};
