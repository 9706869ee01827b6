// Bounded counts of values, kept as pairs: no value can clash with a property name, no document grows for ever.

/** [value, count], in the order in which the values were first seen. */
export type Tally = [value: string, count: number][];

/** Where the counts of dropped values go, so that the sum of a tally stays the number of hits. */
export const OTHER = "other";

export const MOST_VALUES = 200;
const KEPT_VALUES = 100;
const LONGEST_VALUE = 200;

/**
 * Adds one to a value, in place. A tally that grows beyond 200 values keeps its 100 largest (ties by name) and
 * folds the rest into `other`; it depends on the order of hits only, never on batches.
 */
export function addOne(tally: Tally, raw: string): void {
  const value = bounded(raw);
  const known = tally.find((pair) => pair[0] === value);
  if (known) {
    known[1] += 1;
    return;
  }
  tally.push([value, 1]);
  if (tally.length > MOST_VALUES) prune(tally);
}

/** At most 200 characters: values such as utm parameters come from strangers. */
export function bounded(value: string): string {
  return value.length > LONGEST_VALUE ? value.slice(0, LONGEST_VALUE).toWellFormed() : value;
}

function prune(tally: Tally): void {
  const ranked = tally.filter(([value]) => value !== OTHER).sort(byCountThenName);
  const dropped = ranked.slice(KEPT_VALUES).reduce((sum, [, count]) => sum + count, 0);
  const before = tally.find(([value]) => value === OTHER)?.[1] ?? 0;
  tally.splice(0, tally.length, ...ranked.slice(0, KEPT_VALUES), [OTHER, before + dropped]);
}

function byCountThenName(a: Tally[number], b: Tally[number]): number {
  if (a[1] !== b[1]) return b[1] - a[1];
  return a[0] < b[0] ? -1 : 1;
}
