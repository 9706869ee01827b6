// Adds up hits: by kind, over the points of a series, and by the values of each breakdown.
import { CLICK_KINDS, type ClickKind, NO_RULE, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import type { Breakdown } from "../../projections/definitions/breakdown.ts";
import { DIMENSIONS, type Dimension } from "../../projections/definitions/click-dimensions.ts";
import { type DayDocument, dateOf, type QuarterHour } from "../../projections/definitions/days/days.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { partsOfRuleHit } from "../../projections/definitions/rule-hits.ts";
import { byCountThenName, OTHER, type Tally, type ValueCount } from "../../projections/definitions/tally.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { QUARTER_MS } from "./time-zone.ts";

export type HitCounts = Record<ClickKind, number> & { total: number };

/** `start`: milliseconds. */
export type SeriesPoint = HitCounts & { start: number };

/** `totals`: of the points. */
export type HitSeries = { series: SeriesPoint[]; totals: HitCounts };

/**
 * `id`: null for none of the rules. `destinations`: where it led, largest first; long ones are cut (rule-hits.ts).
 * OTHER, without any, for what was counted as others.
 */
export type RuleHits = { id: string | null; hits: number; destinations: ValueCount[] };

/** Largest first, OTHER last. `rules`: of the hits on a link with rules, by the rule that led them. */
export type Breakdowns = {
  breakdowns: Record<Dimension, ValueCount[]>;
  utm: Record<UtmField, ValueCount[]>;
  rules: RuleHits[];
};

/** Of a breakdown; the hits of the others are added to OTHER. */
const MOST_VALUES = 200;

/** As a document has counted them; zeros where there is none. */
export function hitCounts(counted: Partial<Record<ClickKind, number>> = {}): HitCounts {
  const { click = 0, preview = 0, qr_scan = 0 } = counted;
  return { click, preview, qr_scan, total: click + preview + qr_scan };
}

/** Of each link's whole life, in the order of the keys (linkKey). */
export async function hitsOfLinks(
  { readStore }: { readStore: ReadStore },
  keys: readonly string[],
): Promise<HitCounts[]> {
  const counted = await readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, keys, CLICK_KINDS);
  const byKey = new Map(counted.map((clicks) => [clicks._id, clicks]));
  return keys.map((key) => hitCounts(byKey.get(key)));
}

/** Counts the hits of these kinds, in place. */
function addHits(counts: HitCounts, [, ...hits]: QuarterHour, kinds: readonly ClickKind[]): void {
  for (const kind of kinds) {
    const count = hits[CLICK_KINDS.indexOf(kind)] ?? 0;
    counts[kind] += count;
    counts.total += count;
  }
}

/** When the day begins, in milliseconds; `date`: YYYY-MM-DD. */
export function midnightOf(date: string): number {
  return Date.parse(`${date}T00:00:00.000Z`);
}

/** The quarter-hours of the day that are in [from, to), as a whole where that cuts one. */
export function quartersIn(
  day: Pick<DayDocument, "_id" | "quarters">,
  { from, to }: { from: number; to: number },
): QuarterHour[] {
  const midnight = midnightOf(dateOf(day));
  return day.quarters.filter(([quarter]) => {
    const start = midnight + quarter * QUARTER_MS;
    return start + QUARTER_MS > from && start < to;
  });
}

/** The points that begin at `starts`, with the hits of these kinds. */
export function hitSum(starts: readonly number[], kinds: readonly ClickKind[]) {
  const series = starts.map((start): SeriesPoint => ({ start, ...hitCounts() }));
  const totals = hitCounts();
  return {
    /** `date`: YYYY-MM-DD. All of the quarter-hours are within the range. */
    add(date: string, quarters: readonly QuarterHour[]): void {
      const midnight = midnightOf(date);
      for (const quarter of quarters) {
        addHits(pointAt(series, midnight + quarter[0] * QUARTER_MS), quarter, kinds);
        addHits(totals, quarter, kinds);
      }
    },
    result: (): HitSeries => ({ series, totals }),
  };
}

/** The last point that starts at or before the instant; the first one for a quarter-hour that the range cuts. */
function pointAt(series: readonly SeriesPoint[], instant: number): SeriesPoint {
  let [low, high] = [0, series.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((series[middle] as SeriesPoint).start <= instant) low = middle;
    else high = middle - 1;
  }
  return series[low] as SeriesPoint;
}

export function breakdownSum() {
  const breakdowns = mapOf(DIMENSIONS, () => new Map<string, number>());
  const utm = mapOf(UTM_FIELDS, () => new Map<string, number>());
  const rules = new Map<string, number>();
  return {
    add({ tallies, utm: tagged, rules: led }: Breakdown): void {
      for (const [n, dimension] of DIMENSIONS.entries()) addTally(breakdowns[dimension], tallies[n]);
      for (const field of UTM_FIELDS) addTally(utm[field], tagged?.[field]);
      addTally(rules, led);
    },
    result: (): Breakdowns => ({
      breakdowns: mapOf(DIMENSIONS, (name) => ranked(breakdowns[name])),
      utm: mapOf(UTM_FIELDS, (name) => ranked(utm[name])),
      rules: byRule(rules),
    }),
  };
}

function addTally(counts: Map<string, number>, tally: Tally = []): void {
  for (let n = 0; n < tally.length; n += 2) {
    const value = tally[n] as string;
    counts.set(value, (counts.get(value) ?? 0) + (tally[n + 1] as number));
  }
}

function ranked(counts: ReadonlyMap<string, number>): ValueCount[] {
  const named = [...counts].filter(([value]) => value !== OTHER);
  named.sort(byCountThenName);
  const rest = named.splice(MOST_VALUES).reduce((sum, [, count]) => sum + count, counts.get(OTHER) ?? 0);
  return rest > 0 ? [...named, [OTHER, rest]] : named;
}

function byRule(hits: ReadonlyMap<string, number>): RuleHits[] {
  const rules = new Map<string, RuleHits>();
  for (const [value, count] of ranked(hits)) {
    const { rule, destination } = partsOfRuleHit(value);
    const counted = rules.get(rule) ?? { id: rule === NO_RULE ? null : rule, hits: 0, destinations: [] };
    rules.set(rule, counted);
    counted.hits += count;
    if (destination !== undefined) counted.destinations.push([destination, count]);
  }
  return [...rules.values()].sort((a, b) => b.hits - a.hits);
}

function mapOf<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}
