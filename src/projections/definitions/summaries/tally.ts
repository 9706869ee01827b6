// Bounded counts of values. Not an object of counts, as a value such as `__proto__` may equal a property name.
import { cutText } from "../../../runtime/text/cut-text.ts";

/** Stands for the values that a bounded list has cut: no value is null. */
export const CUT = null;
export type Value = string | typeof CUT;

/** Values and counts in turn: one list, as a link has a dozen of them. The counts sum to the hits that have a value. */
export type Tally = (Value | number)[];

type ValueCount = [value: Value, count: number];

/** A tally of more values is cut to half of them. */
export const MOST_VALUES = 200;
const KEPT_VALUES = 100;
const LONGEST_VALUE = 200;

/** Cuts a value to 200 characters, as values such as utm parameters are chosen by the visitor. */
export function bounded(value: string): string {
  return value.length > LONGEST_VALUE ? cutText(value, LONGEST_VALUE).toWellFormed() : value;
}

/** Largest first (ties by name); of more than 200 the 100 largest, and the rest as CUT. */
export function tallyOf(counts: readonly ValueCount[]): Tally {
  if (counts.length <= MOST_VALUES) return counts.toSorted(byCountThenName).flat();
  const values = counts.filter(([value]) => value !== CUT);
  const kept = largest(values, KEPT_VALUES, byCountThenName);
  const sumOf = (of: readonly ValueCount[]) => of.reduce((sum, [, count]) => sum + count, 0);
  return [...kept.flat(), CUT, sumOf(counts) - sumOf(kept)];
}

export function valueCounts(tally: Tally): ValueCount[] {
  const pairs: ValueCount[] = [];
  for (let n = 0; n < tally.length; n += 2) pairs.push([tally[n] as Value, tally[n + 1] as number]);
  return pairs;
}

/** The sum of both. */
export function addTallies(sum: Tally, added: Tally): Tally {
  if (sum.length === 0) return added;
  const counts = new Map<Value, number>();
  for (const [value, count] of [...valueCounts(sum), ...valueCounts(added)])
    counts.set(value, (counts.get(value) ?? 0) + count);
  return tallyOf([...counts]);
}

/** The first `count` of them in their order, without sorting all of them. */
export function largest<T>(of: readonly T[], count: number, order: (a: T, b: T) => number): T[] {
  let kept: T[] = [];
  let last: T | undefined;
  for (const item of of) {
    if (last !== undefined && order(item, last) > 0) continue;
    kept.push(item);
    if (kept.length < 2 * count) continue;
    kept = kept.sort(order).slice(0, count);
    last = kept.at(-1);
  }
  return kept.sort(order).slice(0, count);
}

/** Largest first. */
function byCountThenName(a: ValueCount, b: ValueCount): number {
  if (a[1] !== b[1]) return b[1] - a[1];
  return (a[0] ?? "") < (b[0] ?? "") ? -1 : 1;
}
