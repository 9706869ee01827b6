// Positions as columns of numbers: digits of one length, in parts joined by `:` where a store's positions have several.
import type { Position } from "../../../stores/event-store/port.ts";
import type { StoredPositions } from "./chunk.ts";

/** `parts`: of each part of the positions the number of the first row, and the distances of all rows from it. */
export type Positions = { digits: number; parts: readonly PartNumbers[] };

type PartNumbers = { first: number; after: Uint32Array | Float64Array };

export function positionAt({ digits, parts }: Positions, row: number): Position {
  return textOf(
    digits,
    parts.map(({ first, after }) => first + (after[row] as number)),
  );
}

function textOf(digits: number, numbers: readonly number[]): Position {
  return numbers.map((number) => String(number).padStart(digits, "0")).join(":");
}

/** How many of the first rows are at or before the position. `rows`: of all. */
export function rowsUpTo(positions: Positions, rows: number, position: Position): number {
  let [low, high] = [0, rows];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (positionAt(positions, middle) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last in the order of the log. */
export function laterOf(...positions: readonly Position[]): Position {
  let last = "";
  for (const position of positions) if (position > last) last = position;
  return last;
}

/**
 * The `_position` of what replaces a document otherwise than by later events: behind the stored one, and before that of the
 * next event, as `+` sorts before every digit and behind the end of a text.
 */
export function versionAfter(version: Position, stored: Position): Position {
  return version > stored ? version : `${stored}+`;
}

/** The last event in a document with this `_position`. */
export function eventOf(version: Position): Position {
  return version.replace(/\++$/, "");
}

export class PositionsBuilder {
  #digits = 0;
  #parts: number[][] = [];

  add(position: Position): void {
    const texts = position.split(":");
    if (this.#parts.length === 0) {
      this.#digits = texts[0]?.length ?? 0;
      this.#parts = texts.map(() => []);
    }
    for (const [n, text] of texts.entries()) this.#parts[n]?.push(Number(text));
  }

  positionOf(row: number): Position {
    return textOf(
      this.#digits,
      this.#parts.map((numbers) => numbers[row] as number),
    );
  }

  stored(): StoredPositions {
    const [rows = [], ...others] = this.#parts;
    const areSame = others.every((part) => part.every((number, row) => number === rows[row]));
    const stored = { digits: this.#digits, parts: this.#parts.length, rows: distances(rows) };
    return areSame ? stored : { ...stored, others: others.map(distances) };
  }
}

export function decodedPositions({ digits, parts, rows, others }: StoredPositions): Positions {
  const first = partOf(rows);
  const rest = Array.from({ length: parts - 1 }, (_, n) => (others ? partOf(others[n] ?? []) : first));
  return { digits, parts: [first, ...rest] };
}

/** In half of the memory where they are near each other, as those of one store's file are. */
function partOf(distances: readonly number[]): PartNumbers {
  const numbers = sums(distances);
  const [first = 0] = numbers;
  const after = new Uint32Array(numbers.length);
  for (let row = 0; row < after.length; row++) {
    const distance = (numbers[row] as number) - first;
    if (distance < 0 || distance >= 2 ** 32) return { first: 0, after: numbers };
    after[row] = distance;
  }
  return { first, after };
}

/** Each number as its distance from the one before, the first from 0. */
export function distances(numbers: readonly number[]): number[] {
  return numbers.map((number, row) => number - (row === 0 ? 0 : (numbers[row - 1] as number)));
}

export function sums(distances: readonly number[]): Float64Array {
  const numbers = new Float64Array(distances.length);
  let sum = 0;
  for (let row = 0; row < distances.length; row++) {
    sum += distances[row] as number;
    numbers[row] = sum;
  }
  return numbers;
}
