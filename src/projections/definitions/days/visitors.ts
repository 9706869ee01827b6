// Distinct visitors of a day in one bounded text: their codes while they are few, else a HyperLogLog sketch.
/** Codes one after the other, or SKETCH and the registers, a character each. Empty for nobody. */
export type Visitors = string;

/** Hex digits kept of a visitor's code: that two of 256 visitors share them is one in 30 million. */
const CODE = 10;
/** Up to here the number is exact; a sketch is no larger than that. */
export const MAX_CODES = 256;
const SKETCH = "~";
/** 2,048 registers: standard error 1.04 / sqrt(2048) = 2.3 %. */
const INDEX_BITS = 11;
const REGISTERS = 2 ** INDEX_BITS;
/** Hex digits that a sketch reads of a code: 32 bits. */
const HASH = 8;
const RANK_BITS = 4 * HASH - INDEX_BITS;
/** Character of an empty register; the others follow it. */
const EMPTY = 48;

/** `code`: of LinkClicked, at least ten hex digits; empty when it is not known who it was, which counts as nobody. */
export function withVisitor(visitors: Visitors, code: string): Visitors {
  if (code === "") return visitors;
  if (visitors.startsWith(SKETCH)) return raised(visitors, code);
  const short = code.slice(0, CODE);
  if (holds(visitors, short)) return visitors;
  if (visitors.length < MAX_CODES * CODE) return visitors + short;
  return raised(sketchOf(visitors), code);
}

/** Of everybody in any of the texts, who made so many `hits`; `estimated` when a sketch is among them. */
export function countVisitors(
  all: readonly Visitors[],
  hits: number,
): { visitors: number; estimated: boolean } {
  if (!all.some((text) => text.startsWith(SKETCH)))
    return { visitors: new Set(all.flatMap(codesOf)).size, estimated: false };
  const ranks = new Uint8Array(REGISTERS);
  for (const encoded of all) {
    const sketch = encoded.startsWith(SKETCH) ? encoded : sketchOf(encoded);
    for (let n = 0; n < REGISTERS; n++) ranks[n] = Math.max(ranks[n] ?? 0, rankAt(sketch, n));
  }
  return { visitors: Math.min(Math.round(estimate(ranks)), hits), estimated: true };
}

function holds(codes: Visitors, code: string): boolean {
  for (let at = codes.indexOf(code); at >= 0; at = codes.indexOf(code, at + 1))
    if (at % CODE === 0) return true;
  return false;
}

function codesOf(codes: Visitors): string[] {
  return Array.from({ length: codes.length / CODE }, (_, n) => codes.slice(n * CODE, (n + 1) * CODE));
}

function sketchOf(codes: Visitors): Visitors {
  const empty = SKETCH + String.fromCharCode(EMPTY).repeat(REGISTERS);
  return codesOf(codes).reduce(raised, empty);
}

/** The sketch with the register of the code raised to its rank: the place of the first 1 after the index bits. */
function raised(sketch: Visitors, code: string): Visitors {
  const hash = Number.parseInt(code.slice(0, HASH), 16);
  const index = hash >>> RANK_BITS;
  const rank = Math.min(RANK_BITS, Math.clz32(hash << INDEX_BITS)) + 1;
  if (rankAt(sketch, index) >= rank) return sketch;
  const at = SKETCH.length + index;
  return sketch.slice(0, at) + String.fromCharCode(EMPTY + rank) + sketch.slice(at + 1);
}

function rankAt(sketch: Visitors, index: number): number {
  return sketch.charCodeAt(SKETCH.length + index) - EMPTY;
}

/** The improved raw estimator of Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), §4. */
function estimate(ranks: Uint8Array): number {
  const counts = new Array<number>(RANK_BITS + 2).fill(0);
  for (const rank of ranks) counts[rank] = (counts[rank] ?? 0) + 1;
  let z = REGISTERS * tau(1 - (counts[RANK_BITS + 1] ?? 0) / REGISTERS);
  for (let rank = RANK_BITS; rank >= 1; rank--) z = 0.5 * (z + (counts[rank] ?? 0));
  z += REGISTERS * sigma((counts[0] ?? 0) / REGISTERS);
  return (REGISTERS * REGISTERS) / (2 * Math.LN2 * z);
}

function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY;
  let [power, factor, sum, before] = [x, 1, x, -1];
  while (sum !== before) {
    power *= power;
    before = sum;
    sum += power * factor;
    factor += factor;
  }
  return sum;
}

function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let [root, factor, sum, before] = [x, 1, 1 - x, -1];
  while (sum !== before) {
    root = Math.sqrt(root);
    before = sum;
    factor *= 0.5;
    sum -= (1 - root) ** 2 * factor;
  }
  return sum / 3;
}
