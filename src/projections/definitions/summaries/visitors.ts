// How visitors of a day are told apart in tables, and counted in summaries: by what they did, so that those of several kinds of hit
// or hours are counted once.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";

/** What a visitor did, as a sum of 1 << number, and how many did just this, in turn; ascending. Of unknown ones with UNKNOWN_BIT. */
export type Patterns = number[];
const UNKNOWN_BIT = 1 << 24;
/** In the place of a number of visitors. */
export const NOT_KNOWN = -1;

/** Hex digits kept of a visitor's code: two of a million visitors of a day share them in one of two days. */
const CODE = 10;

/** What is kept of a code of LinkClicked. "" for "", which says that it is not known who it was. */
export function shortCode(code: string): string {
  return code === "" ? "" : code.slice(0, CODE).padEnd(CODE, "0");
}

/** 1 << the index of each in CLICK_KINDS, together. */
export function kindBits(kinds: readonly ClickKind[]): number {
  return kinds.reduce((bits, kind) => bits | (1 << CLICK_KINDS.indexOf(kind)), 0);
}

/** `did`: of each visitor; who did nothing is left out. `unknown`: what was done without that it is known by whom. */
export function patternsOf(did: Iterable<number>, unknown: number): Patterns {
  const counts = new Map<number, number>(unknown > 0 ? [[UNKNOWN_BIT | unknown, 1]] : []);
  for (const pattern of did) if (pattern > 0) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b).flat();
}

/** Who did any of what is wanted; NOT_KNOWN where that isn't known of all. */
export function visitorsWho(patterns: Patterns, wanted: number): number {
  let visitors = 0;
  for (let n = 0; n < patterns.length; n += 2) {
    const did = patterns[n] as number;
    if (!(did & wanted)) continue;
    if (did & UNKNOWN_BIT) return NOT_KNOWN;
    visitors += patterns[n + 1] as number;
  }
  return visitors;
}
