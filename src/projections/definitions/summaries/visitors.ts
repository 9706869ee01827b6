// How visitors of a day are told apart in tables, and counted in summaries: by what they did, so that those of several kinds of hit
// or hours are counted once.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";

/** What a visitor did, as a sum of 1 << number, and how many did just this, in turn; ascending. */
export type Patterns = number[];

/** Hex digits kept of a visitor's code: two of a million visitors of a day share them in one of two days. */
const CODE = 10;

/** What is kept of a code of LinkClicked. "" for "", which says that it is not known who it was, and counts as nobody. */
export function shortCode(code: string): string {
  return code === "" ? "" : code.slice(0, CODE).padEnd(CODE, "0");
}

/** 1 << the index of each in CLICK_KINDS, together. */
export function kindBits(kinds: readonly ClickKind[]): number {
  return kinds.reduce((bits, kind) => bits | (1 << CLICK_KINDS.indexOf(kind)), 0);
}

/** `did`: of each visitor; who did nothing is left out. */
export function patternsOf(did: Iterable<number>): Patterns {
  const counts = new Map<number, number>();
  for (const pattern of did) if (pattern > 0) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b).flat();
}

/** Who did any of what is wanted. */
export function visitorsWho(patterns: Patterns, wanted: number): number {
  let visitors = 0;
  for (let n = 0; n < patterns.length; n += 2)
    if ((patterns[n] as number) & wanted) visitors += patterns[n + 1] as number;
  return visitors;
}
