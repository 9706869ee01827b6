// What is answered about the hits of a link in any range of time: its UTC days, with counts and breakdowns by kind.
import type { Position } from "../../../event-store/port.ts";
import type { LinkClicked } from "../../../events/catalogue.ts";
import { PREFIX } from "../../../events/streams.ts";
import { type ClickKind, UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import type { Projection } from "../../projection.ts";
import { asGiven } from "../../shared-texts.ts";
import { DIMENSIONS, VALUE_OF } from "../click-dimensions.ts";
import { type Tally, withOne } from "../tally.ts";
import { type DayDocument, dayOf, withHit } from "./days.ts";
import { type Visitors, withVisitor } from "./visitors.ts";

/** Hits of one kind: a tally for each of DIMENSIONS, in their order; `utm`: only fields with values. */
export type KindOfDay = { tallies: Tally[]; visitors: Visitors; utm?: { [F in UtmField]?: Tally } };

/**
 * `_id`: `<link>@YYYY-MM-DD`. `first`: position of the day's first click in the log; with `_position` it says where the
 * day's clicks are, also those that came late or were imported. `kinds`: those with hits.
 */
export type LinkDayDocument = DayDocument & { first: Position; kinds: { [K in ClickKind]?: KindOfDay } };

export const linkDays: Projection<LinkDayDocument> = {
  name: "link-days",
  version: 3,
  // Answers without a range read `quarters` only.
  readsSince: 2,
  collection: { name: "link-days-3", indexes: [] },
  prefixes: [PREFIX.clicks, PREFIX.withdrawals],
  handles: ["LinkClicked"],
  key(event) {
    const { link, at } = event.data as LinkClicked["data"];
    return dayOf(link, at);
  },
  recounts: true,
  empty: ({ position }) => ({ first: position, quarters: [], kinds: {} }),
  evolve(day, event, shared = asGiven) {
    if (event.type !== "LinkClicked") return day;
    const click = event.data;
    day.quarters = withHit(day.quarters, click);
    day.kinds[click.kind] ??= { tallies: DIMENSIONS.map(() => []), visitors: "" };
    const kind = day.kinds[click.kind] as KindOfDay;
    for (const [n, dimension] of DIMENSIONS.entries())
      kind.tallies[n] = withOne(kind.tallies[n] as Tally, VALUE_OF[dimension](click), shared);
    kind.visitors = withVisitor(kind.visitors, click.visitor);
    for (const field of UTM_FIELDS) {
      const value = click.utm[field];
      if (!value) continue;
      kind.utm ??= {};
      kind.utm[field] = withOne(kind.utm[field] ?? [], value, shared);
    }
    return day;
  },
};
