// What is asked about the clicks of an account, or of one link, and the answer: the one question of pages and of the API.
import type { ClickKind } from "../../events/vocabulary.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { Interval } from "./intervals.ts";

/**
 * What clicks are grouped and filtered by. A click without a value counts as `unknown` (a referrer as `direct`), but for
 * tags, utm fields and rules, where it counts in no group. Tags are those that a link has now.
 */
export const GROUPS = [
  ...(["link", "tag", "domain"] as const),
  ...(["country", "region", "city", "referrer"] as const),
  ...(["device", "browser", "os", "language"] as const),
  ...(["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const),
  ...(["rule", "kind", "hour", "day", "weekday", "weekday_hour"] as const),
] as const;
export type GroupBy = (typeof GROUPS)[number];

/** With what a range is compared: the same hours so many whole days before, or of the week, month or year before. */
export const COMPARISONS = ["previous", "week", "month", "year"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** [from, to) in milliseconds. */
export type Period = { from: number; to: number };

/** Of one field any of the values, of all fields each. */
export type Filters = { readonly [G in GroupBy]?: readonly string[] };

/**
 * `from` inclusive, by default the day of the first click; `to` exclusive, by default `now`; both in milliseconds. `zone`: an
 * IANA name, of hours, days and weekdays. `interval`: undefined for one that fits. `kinds`: of the clicks that count.
 * `compare`: with such a time, or with a time of its own. `limit`: rows of a group, but for the hours of the week, of which there are 168. `asOf`: as the numbers stood at a
 * position; by default at the last click that is counted.
 */
export type AccountQuestion = {
  accountId: string;
  groupBy: readonly GroupBy[];
  filters: Filters;
  from?: number | undefined;
  to?: number | undefined;
  now: number;
  zone: string;
  interval?: Interval | undefined;
  kinds: readonly ClickKind[];
  compare?: Comparison | Period | undefined;
  limit: number;
  asOf?: Position | undefined;
};

/** Of single clicks: as of AccountQuestion, but that all are meant without `from` and `to`. */
export type ClickListQuestion = Pick<
  AccountQuestion,
  "accountId" | "filters" | "kinds" | "from" | "to" | "zone"
>;

/**
 * `people`: clicks and QR scans. `visitors`: who made them, each counted once a UTC day, as nobody is followed from one day to
 * the next; null of several values together, and where one of them has no visitor code.
 */
export type Totals = Record<ClickKind, number> & {
  people: number;
  visitors: number | null;
};

/**
 * `value`: of a link `<host>/<slug>`, of a region or city with its country (`Paris, FR`), of hours `00` to `23`, of days
 * YYYY-MM-DD, of weekdays `1` for Monday to `7`, of their hours `1-09`, of rules their id, or `none`. `label`: the link's title.
 */
export type GroupRow = Totals & { value: string; label?: string | undefined };

/** Most people first. `other`: of the values beyond the limit together, without visitors; undefined for none. */
export type Group = { rows: GroupRow[]; other: Totals | undefined };

/** `start`: milliseconds; the first point begins with the range. */
export type Point = Totals & { start: number };

/**
 * As of `position`. `previous`: of what it is compared with, in points of the same length, be they fewer or more. `gaps`: of the range, clicks that were not recorded. `behindMs`: how long ago the first click after it was
 * recorded; 0 for none.
 */
export type AccountAnswer = {
  from: number;
  to: number;
  interval: Interval;
  totals: Totals;
  previous: (Period & { totals: Totals; series: Point[] }) | undefined;
  series: Point[];
  groups: { [G in GroupBy]?: Group };
  gaps: ClickGap[];
  position: Position;
  behindMs: number;
};
