// Bounded counts of values. Not an object of counts, as a value such as `__proto__` may equal a property name.
/** Values and counts in turn, values in the order in which they were first seen. One list, as a link has a dozen of them. */
export type Tally = (string | number)[];

export type ValueCount = [value: string, count: number];

/**
 * Counts the hits of dropped values, so that the sum of a tally remains the number of hits. No value is like it, as no text from
 * outside keeps a control character (clean-text.ts); `other` is a value like any.
 */
export const OTHER = "\u0000other";

const MAX_VALUES = 200;
const KEPT_VALUES = 100;
const MAX_VALUE_LENGTH = 200;

/**
 * Counts a value in place. A tally of more than 200 values is cut to the 100 largest (ties by name), and the counts of the
 * others are added to OTHER.
 */
export function countOne(tally: Tally, raw: string): void {
  count(tally, bounded(raw), 1);
}

/** Adds the counts of another tally in place. */
export function countAll(tally: Tally, added: Tally): void {
  for (const [value, hits] of valueCounts(added)) count(tally, value, hits);
}

function count(tally: Tally, value: string, hits: number): void {
  const index = tally.indexOf(value);
  if (index >= 0) {
    tally[index + 1] = (tally[index + 1] as number) + hits;
    return;
  }
  tally.push(value, hits);
  if (tally.length > 2 * MAX_VALUES) prune(tally);
}

export function valueCounts(tally: Tally): ValueCount[] {
  const pairs: ValueCount[] = [];
  for (let n = 0; n < tally.length; n += 2) pairs.push([tally[n] as string, tally[n + 1] as number]);
  return pairs;
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
  tally.splice(0, tally.length, ...kept.flat());
}

export function byCountThenName(a: ValueCount, b: ValueCount): number {
  if (a[1] !== b[1]) return b[1] - a[1];
  return a[0] < b[0] ? -1 : 1;
}
