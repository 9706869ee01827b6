// Bounded counts of values. Not an object of counts, as a value such as `__proto__` may equal a property name.

/** The values in the order in which they were first seen, and the count of each at the same index. */
export type Tally = [values: string[], counts: number[]];

export type ValueCount = [value: string, count: number];

/** Counts the hits of dropped values, so that the sum of a tally remains the number of hits. */
export const OTHER = "other";

export const MAX_VALUES = 200;
const KEPT_VALUES = 100;
const MAX_VALUE_LENGTH = 200;

export function emptyTally(): Tally {
  return [[], []];
}

/**
 * Adds one to a value, in place. A tally of more than 200 values is cut to the 100 largest (ties by name), and the
 * counts of the others are added to `other`.
 */
export function addOne([values, counts]: Tally, raw: string): void {
  const value = bounded(raw);
  const index = values.indexOf(value);
  if (index >= 0) {
    counts[index] = (counts[index] ?? 0) + 1;
    return;
  }
  values.push(value);
  counts.push(1);
  if (values.length > MAX_VALUES) prune([values, counts]);
}

export function valueCounts([values, counts]: Tally): ValueCount[] {
  return values.map((value, index) => [value, counts[index] ?? 0]);
}

/** Cuts a value to 200 characters, as values such as utm parameters are chosen by the visitor. */
export function bounded(value: string): string {
  return value.length > MAX_VALUE_LENGTH ? value.slice(0, MAX_VALUE_LENGTH).toWellFormed() : value;
}

function prune(tally: Tally): void {
  const pairs = valueCounts(tally);
  const ranked = pairs.filter(([value]) => value !== OTHER).sort(byCountThenName);
  const dropped = ranked.slice(KEPT_VALUES).reduce((sum, [, count]) => sum + count, 0);
  const before = pairs.find(([value]) => value === OTHER)?.[1] ?? 0;
  const kept: ValueCount[] = [...ranked.slice(0, KEPT_VALUES), [OTHER, before + dropped]];
  tally[0].splice(0, Number.POSITIVE_INFINITY, ...kept.map(([value]) => value));
  tally[1].splice(0, Number.POSITIVE_INFINITY, ...kept.map(([, count]) => count));
}

function byCountThenName(a: ValueCount, b: ValueCount): number {
  if (a[1] !== b[1]) return b[1] - a[1];
  return a[0] < b[0] ? -1 : 1;
}
