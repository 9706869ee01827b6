// What is answered together about the hits of a link: its totals, breakdowns and recent clicks (interface, part 2).
import type { LinkClicked } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import { type ClickKind, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { asGiven } from "../shared-texts.ts";
import { DIMENSIONS, type Dimension, VALUE_OF } from "./click-dimensions.ts";
import { clickRank } from "./click-rank.ts";
import { type RecentClickRow, withRecent } from "./recent-clicks.ts";
import { type Tally, withOne } from "./tally.ts";

/**
 * `_id`: link key. `totalClicks` is the sum of the kinds. `rank`: see click-rank.ts. `utm`: only fields with values.
 * `recent`: newest first.
 */
export type LinkClicksDocument = Document &
  Record<ClickKind, number> &
  Record<Dimension, Tally> & {
    accountId: string;
    rank: number;
    totalClicks: number;
    firstAt: string;
    lastAt: string;
    utm: { [F in UtmField]?: Tally };
    recent: RecentClickRow[];
  };

export const linkClicks: Projection<LinkClicksDocument> = {
  name: "link-clicks",
  version: 2,
  collection: {
    name: "link-clicks-2",
    indexes: [["accountId", "rank"]],
    columns: ["accountId", "rank", "totalClicks"],
  },
  prefixes: [PREFIX.clicks, PREFIX.withdrawals],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  recounts: true,
  empty(event) {
    const { accountId, at } = event.data as LinkClicked["data"];
    return {
      accountId,
      rank: 0,
      totalClicks: 0,
      click: 0,
      preview: 0,
      qr_scan: 0,
      firstAt: at,
      lastAt: at,
      devices: [],
      countries: [],
      cities: [],
      browsers: [],
      os: [],
      referrers: [],
      utm: {},
      recent: [],
    };
  },
  evolve(clicks, event, shared = asGiven) {
    if (event.type !== "LinkClicked") return clicks;
    const click = event.data;
    clicks.totalClicks += 1;
    clicks.rank = clickRank(clicks.totalClicks);
    clicks[click.kind] += 1;
    // Clicks of several writers, or from a spool, are appended out of order.
    if (click.at < clicks.firstAt) clicks.firstAt = click.at;
    if (click.at > clicks.lastAt) clicks.lastAt = click.at;
    for (const dimension of DIMENSIONS)
      clicks[dimension] = withOne(clicks[dimension], VALUE_OF[dimension](click), shared);
    for (const field of UTM_FIELDS) {
      const value = click.utm[field];
      if (!value) continue;
      clicks.utm[field] = withOne(clicks.utm[field] ?? [], value, shared);
    }
    clicks.recent = withRecent(clicks.recent, click, shared);
    return clicks;
  },
};
