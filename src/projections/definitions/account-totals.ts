// Hits of all links of an account by kind, since it was opened.
import type { LinkClicked } from "../../events/catalogue.ts";
import { CATEGORY } from "../../events/streams.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. */
export type AccountTotalsDocument = Document & Record<ClickKind, number>;

export const accountTotals: Projection<AccountTotalsDocument> = {
  name: "account-totals",
  version: 1,
  collection: { name: "account-totals", indexes: [] },
  categories: [CATEGORY.clicks, CATEGORY.withdrawals],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).accountId,
  empty: () => ({ click: 0, preview: 0, qr_scan: 0 }),
  evolve(totals, event) {
    if (event.type === "LinkClicked") totals[event.data.kind] += 1;
    return totals;
  },
  withdraw(totals, event) {
    if (event.type === "LinkClicked") totals[event.data.kind] -= 1;
    return totals;
  },
};
