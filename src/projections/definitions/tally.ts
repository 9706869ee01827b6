// Bounded counts of values. Pairs and not object members, as a value such as `__proto__` may equal a property name.

/** [value, count], in the order in which the values were first seen. */
export type Tally = [value: string, count: number][];

/** Counts the hits of dropped values, so that the sum of a tally remains the number of hits. */
export const OTHER = "other";

export const MAX_VALUES = 200;
const KEPT_VALUES = 100;
const MAX_VALUE_LENGTH = 200;

/**
 * Adds one to a value, in place. A tally of more than 200 values is cut to the 100 largest (ties by name), and the
 * counts of the others are added to `other`.
 */
export function addOne(tally: Tally, raw: string): void {
  const value = bounded(raw);
  const known = tally.find((pair) => pair[0] === value);
  if (known) {
    known[1] += 1;
    return;
  }
  tally.push([value, 1]);
  if (tally.length > MAX_VALUES) prune(tally);
}

/** Cuts a value to 200 characters, as values such as utm parameters are chosen by the visitor. */
export function bounded(value: string): string {
  return value.length > MAX_VALUE_LENGTH ? value.slice(0, MAX_VALUE_LENGTH).toWellFormed() : value;
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
