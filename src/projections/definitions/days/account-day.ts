// What is answered about all hits of an account in any range of time: its UTC days, with counts by link, breakdowns and visitors.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { type ClickKind, UNKNOWN } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { Projection } from "../../projection.ts";
import { countBreakdown, emptyBreakdown } from "../breakdown.ts";
import { placeName } from "../click-dimensions.ts";
import { countOne, type Tally } from "../tally.ts";
import { countHit, type DayDocument, dayOf, type QuarterHour } from "./days.ts";
import type { KindOfDay } from "./link-day.ts";
import { countLinkHit, type LinkHits } from "./link-hits.ts";
import { withVisitor } from "./visitors.ts";

/** `visitors`: by `accountVisitor`. */
export type AccountKind = KindOfDay & { regions: Tally; languages: Tally };

/** What is counted; `links`: by link (link-hits.ts). */
export type AccountDayCounts = {
  quarters: QuarterHour[];
  links: LinkHits[];
  kinds: { [K in ClickKind]?: AccountKind };
};

/** `first`, `last`: positions of the day's first and last click in the log, also of withdrawn ones. */
export type AccountDayDocument = DayDocument & AccountDayCounts & { first: Position; last: Position };

export const accountDays: Projection<AccountDayDocument> = {
  name: "account-days",
  collection: { name: "account-days", indexes: [] },
  handles: ["LinkClicked"],
  key(event) {
    const { accountId, at } = event.data as LinkClicked["data"];
    return dayOf(accountId, at);
  },
  empty: ({ position }) => ({ first: position, last: position, ...noAccountHits() }),
  evolve(day, event) {
    if (event.type !== "LinkClicked") return day;
    if (event.position > day.last) day.last = event.position;
    countAccountHit(day, event.data);
    return day;
  },
};

export function noAccountHits(): AccountDayCounts {
  return { quarters: [], links: [], kinds: {} };
}

/** In place. */
export function countAccountHit(day: AccountDayCounts, click: LinkClicked["data"]): void {
  const { kind, country, region, language = UNKNOWN } = click;
  countHit(day.quarters, click);
  countLinkHit(day.links, click);
  const counted = day.kinds[kind] ?? { ...emptyBreakdown(), visitors: "", regions: [], languages: [] };
  countBreakdown(counted, click);
  countOne(counted.regions, placeName(region, country));
  countOne(counted.languages, language);
  counted.visitors = withVisitor(counted.visitors, click.accountVisitor ?? "");
  day.kinds[kind] = counted;
}
