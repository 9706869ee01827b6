// Hits of each link by kind, for totalClicks, actualClicks, previews and qrScans (interface, part 2) and for top links.
import type { LinkClicked } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: link key. `totalClicks` is the sum of the kinds. */
export type LinkTotalsDocument = Document &
  Record<ClickKind, number> & {
    link: string;
    accountId: string;
    totalClicks: number;
    firstAt: string;
    lastAt: string;
  };

export const linkTotals: Projection<LinkTotalsDocument> = {
  name: "link-totals",
  version: 2,
  collection: { name: "link-totals-2", indexes: [["accountId", "totalClicks"]] },
  prefixes: [PREFIX.clicks],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  empty(event) {
    const { link, accountId, at } = event.data as LinkClicked["data"];
    return { link, accountId, totalClicks: 0, click: 0, preview: 0, qr_scan: 0, firstAt: at, lastAt: at };
  },
  evolve(totals, event) {
    if (event.type !== "LinkClicked") return totals;
    const { kind, at } = event.data;
    totals.totalClicks += 1;
    totals[kind] += 1;
    // Clicks of several writers, or from a spool, are appended out of order.
    if (at < totals.firstAt) totals.firstAt = at;
    if (at > totals.lastAt) totals.lastAt = at;
    return totals;
  },
};
