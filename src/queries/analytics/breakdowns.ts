// Adds up the breakdowns of days of a link: what its hits, or those of a range of time, are counted by.
import { UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { DIMENSIONS, type Dimension } from "../../projections/definitions/click-dimensions.ts";
import type { KindOfDay } from "../../projections/definitions/days/link-day.ts";
import { byCountThenName, OTHER, type Tally, type ValueCount } from "../../projections/definitions/tally.ts";

/** Largest first, `other` last. */
export type Breakdowns = {
  breakdowns: Record<Dimension, ValueCount[]>;
  utm: Record<UtmField, ValueCount[]>;
};

/** Of a breakdown; the hits of the others are added to `other`. */
const MOST_VALUES = 200;

export function breakdownSum() {
  const breakdowns = mapOf(DIMENSIONS, () => new Map<string, number>());
  const utm = mapOf(UTM_FIELDS, () => new Map<string, number>());
  return {
    add({ tallies, utm: tagged }: KindOfDay): void {
      for (const [n, dimension] of DIMENSIONS.entries()) addTally(breakdowns[dimension], tallies[n]);
      for (const field of UTM_FIELDS) addTally(utm[field], tagged?.[field]);
    },
    result: (): Breakdowns => ({
      breakdowns: mapOf(DIMENSIONS, (name) => ranked(breakdowns[name])),
      utm: mapOf(UTM_FIELDS, (name) => ranked(utm[name])),
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

function mapOf<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}
