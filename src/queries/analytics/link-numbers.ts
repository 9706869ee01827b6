// The numbers of a link in any range of time and any zone, as of any position of the log, or of its whole life: what the API
// asks, in the reader thread.

import { Refused } from "../../commands/refusals.ts";
import { NO_RULE, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { partsOfRuleHit } from "../../projections/definitions/rule-hits.ts";
import {
  DIMENSION_NAMES,
  DIMENSIONS,
  type Dimension,
} from "../../projections/definitions/summaries/breakdown.ts";
import { type SliceWork, timeSlices } from "../../runtime/threads/time-slices.ts";
import { upTo } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { refuseForeignPosition } from "../cursor.ts";
import { linkFromStream } from "../links/find-link.ts";
import { type HitCounts, hitCounts } from "../links/hits-of-links.ts";
import { type ClickQuestions, type LinkLife, MOST_VALUES } from "./click-questions.ts";
import { type CountedBy, hitsIn } from "./counting/count-rows.ts";
import type { DayVisitors } from "./counting/sum-days.ts";
import type { Interval } from "./intervals.ts";
import { positionAsOf } from "./log-positions.ts";
import type { RangeRequest } from "./range.ts";
import type { RecentClick } from "./recent-clicks.ts";
import { whenCounted } from "./when-counted.ts";

type Deps = {
  readStore: ReadStore;
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  questions: ClickQuestions;
  slices?: SliceWork;
};

/** `zone`: its name, as it crosses threads. */
type LinkRange = Omit<RangeRequest, "zone"> & { zone: string };

/**
 * `link`: as it is at present. Without a range: of its whole life, with a series of the last 24 hours and no visitors.
 * @throws invalid_range, invalid_position, not_found, range_too_large, ProjectionNotBuilt; what the stores throw
 */
export type AskLink = (
  link: LinkDocument,
  range: LinkRange | undefined,
  now: number,
  signal: AbortSignal,
) => Promise<LinkNumbers>;

/** `start`: milliseconds. */
type SeriesPoint = HitCounts & { start: number };

/** `values`: largest first. `other`: hits of the values that are not listed. */
export type ListedValues = { values: [value: string, hits: number][]; other: number };

/** `id`: null for none of the rules. `destinations`: where it led, largest first; long ones are cut (rule-hits.ts). */
export type RuleHits = { id: string | null; hits: number; destinations: [url: string, hits: number][] };

/** `rules`: of the hits on a link with rules, by the rule that led them. */
export type Breakdowns = {
  breakdowns: Record<Dimension, ListedValues>;
  utm: Record<UtmField, ListedValues>;
  rules: { values: RuleHits[]; other: number };
};

/**
 * `link`: as of `position`, which all numbers are as of; START for an empty log. `from`, `to`: of the series, milliseconds.
 * `behindMs`: how long ago the first click after `position` was recorded; 0 when there is none. `visitors`: of UTC days.
 */
export type LinkNumbers = Breakdowns & {
  link: LinkDocument;
  interval: Interval;
  from: number;
  to: number;
  totals: HitCounts;
  series: SeriesPoint[];
  visitors: DayVisitors[];
  /** Of its whole life, newest first. */
  recent: RecentClick[];
  /** Of a range: clicks that were not recorded. */
  gaps: ClickGap[];
  position: Position;
  behindMs: number;
};

/** Clocks of clients differ. */
export const CLOCK_DIFFERENCE_MS = 60_000;
const FIELDS = [
  ...Object.values(DIMENSIONS),
  ...UTM_FIELDS.map((field) => `utm_${field}` as const),
  "destination" as const,
];

/** One for all that ask, as it keeps what it has read of the log. */
export function linkNumbers(deps: Deps): AskLink {
  const { eventStore, questions, slices = timeSlices } = deps;
  const counted = whenCounted(deps);

  /** Undefined when the link did not exist then. */
  async function positionOf(
    link: string,
    asOf: NonNullable<RangeRequest["asOf"]>,
    now: number,
    signal: AbortSignal,
  ): Promise<Position | undefined> {
    if ("position" in asOf) {
      await refuseForeignPosition(deps, asOf.position);
      return asOf.position;
    }
    const { time } = asOf;
    if (time > now + CLOCK_DIFFERENCE_MS)
      throw new Refused("invalid_range", "as_of must not be in the future");
    return await positionAsOf(deps, link, new Date(time).toISOString(), slices(signal));
  }

  async function ofRange(
    present: LinkDocument,
    request: LinkRange,
    now: number,
    signal: AbortSignal,
  ): Promise<LinkNumbers> {
    const asOf = request.asOf && (await positionOf(present._id, request.asOf, now, signal));
    const linkThen = async () => asOf && (await linkFromStream(upTo(eventStore, asOf), present._id));
    const link = request.asOf ? await linkThen() : present;
    if (!link) throw new Refused("not_found", "The link did not exist at as_of.");
    if (asOf !== undefined) await counted(asOf);
    const { from, to, interval, zone, kinds } = request;
    const end = request.asOf && "time" in request.asOf ? Math.min(request.asOf.time, now) : now;
    const of = { accountId: link.accountId, filters: { link: [link._id] }, zone, interval, kinds };
    const question = { ...of, from, to, now, end, asOf, groupBy: FIELDS, limit: MOST_VALUES, hitsOnly: true };
    // Of the hits that are asked for, be they of bots.
    const visitorKinds = kinds;
    const begins = Date.parse(link.createdAt);
    const answer = await questions.answer({ ...question, visitorKinds, begins }, signal);
    return {
      link,
      ...{ interval: answer.interval, from: answer.from, to: answer.to },
      ...numbersOf(answer),
      visitors: answer.days,
      gaps: answer.gaps,
      recent: [],
      position: answer.position,
      behindMs: answer.behindMs,
    };
  }

  async function ofWholeLife(link: LinkDocument, now: number, signal: AbortSignal): Promise<LinkNumbers> {
    const { accountId, _id } = link;
    const life = await questions.lifeOf({ accountId, link: _id, groupBy: FIELDS, now }, signal);
    return {
      link,
      ...{ interval: "hour", from: life.from, to: life.to },
      ...numbersOf(life),
      visitors: [],
      recent: life.recent,
      gaps: [],
      position: life.position,
      behindMs: life.behindMs,
    };
  }

  return async (link, range, now, signal) =>
    range ? await ofRange(link, range, now, signal) : await ofWholeLife(link, now, signal);
}

function numbersOf({ totals, series, groups }: Pick<LinkLife, "totals" | "series" | "groups">) {
  const of = (field: CountedBy): ListedValues => {
    const { rows = [], other } = groups[field] ?? {};
    return {
      values: rows.map((row): [string, number] => [row.value, hitsIn(row)]).sort(byHits),
      other: other ? hitsIn(other) : 0,
    };
  };
  return {
    totals: hitCounts(totals),
    series: series.map((point): SeriesPoint => ({ start: point.start, ...hitCounts(point) })),
    breakdowns: mapOf(DIMENSION_NAMES, (name) => of(DIMENSIONS[name])),
    utm: mapOf(UTM_FIELDS, (name) => of(`utm_${name}`)),
    rules: byRule(of("destination")),
  };
}

function byRule({ values, other }: ListedValues): Breakdowns["rules"] {
  const rules = new Map<string, RuleHits>();
  for (const [value, hits] of values) {
    const { rule, destination } = partsOfRuleHit(value);
    const counted = rules.get(rule) ?? { id: rule === NO_RULE ? null : rule, hits: 0, destinations: [] };
    rules.set(rule, counted);
    counted.hits += hits;
    counted.destinations.push([destination, hits]);
  }
  return { values: [...rules.values()].sort((a, b) => b.hits - a.hits), other };
}

function byHits([value, hits]: [string, number], [other, others]: [string, number]): number {
  return others - hits || (value < other ? -1 : 1);
}

function mapOf<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}
