// What is answered about the hits of a link in any range of time: its UTC days, with counts, breakdowns and visitors by kind.

import type { LinkClicked } from "../../../events/catalogue.ts";
import { type ClickKind, UNKNOWN } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { Document } from "../../../stores/read-store/port.ts";
import type { Projection } from "../../projection.ts";
import { type Breakdown, countBreakdown, emptyBreakdown } from "../breakdown.ts";
import { placeName } from "../click-dimensions.ts";
import { countOne, type Tally } from "../tally.ts";
import { countHit, dayOf, type QuarterHour } from "./days.ts";
import { type Visitors, withVisitor } from "./visitors.ts";

/** Of a link, or of an account. `regions`: with their countries. */
export type KindOfDay = Breakdown & { visitors: Visitors; regions: Tally; languages: Tally };

/**
 * `first`, `last`: positions of the day's first and last click in the log, withdrawn ones too, between which are also those
 * that came late or were imported; "" without clicks. `firstAt`, `lastAt`: of the hits that count. `kinds`: those with hits.
 */
export type LinkDay = {
  first: Position;
  last: Position;
  firstAt: string;
  lastAt: string;
  quarters: QuarterHour[];
  kinds: { [K in ClickKind]?: KindOfDay };
};

/** `_id`: as of `dayOf`. */
export type LinkDayDocument = Document & LinkDay;

type Click = Pick<LinkClicked, "data"> & { position: Position };

export const linkDays: Projection<LinkDayDocument> = {
  name: "link-days",
  collection: { name: "link-days", indexes: [] },
  handles: ["LinkClicked"],
  key(event) {
    const { link, at } = event.data as LinkClicked["data"];
    return dayOf(link, at);
  },
  empty: emptyDay,
  evolve: (day, event) => (event.type === "LinkClicked" ? withClick(day, event) : day),
};

export function emptyDay(): LinkDay {
  return { first: "", last: "", firstAt: "", lastAt: "", quarters: [], kinds: {} };
}

/** Counts the click, in place. */
export function withClick<Day extends LinkDay>(day: Day, { data, position }: Click): Day {
  if (day.first === "") day.first = position;
  if (position > day.last) day.last = position;
  if (day.quarters.length === 0 || data.at < day.firstAt) day.firstAt = data.at;
  if (data.at > day.lastAt) day.lastAt = data.at;
  countHit(day.quarters, data);
  day.kinds[data.kind] = countOfDay(day.kinds[data.kind], data, data.visitor);
  return day;
}

/** With the click, counted in place. `visitor`: the code that visitors are told apart by. */
export function countOfDay(
  counted: KindOfDay = { ...emptyBreakdown(), visitors: "", regions: [], languages: [] },
  click: LinkClicked["data"],
  visitor = "",
): KindOfDay {
  const { region, country, language = UNKNOWN } = click;
  countBreakdown(counted, click);
  countOne(counted.regions, placeName(region, country));
  countOne(counted.languages, language);
  counted.visitors = withVisitor(counted.visitors, visitor);
  return counted;
}
