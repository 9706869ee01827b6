// Positions as columns of numbers: digits of one length, in parts joined by `:` where a store's positions have several.
import type { Position } from "../../../stores/event-store/port.ts";
import type { StoredPositions } from "./chunk.ts";

/** `parts`: a list of numbers for each part of the positions, in the order of the rows. */
export type Positions = { digits: number; parts: readonly ArrayLike<number>[] };

export function positionAt({ digits, parts }: Positions, row: number): Position {
  const texts = parts.map((numbers) => String(numbers[row]).padStart(digits, "0"));
  return texts.join(":");
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
    return positionAt({ digits: this.#digits, parts: this.#parts }, row);
  }

  stored(): StoredPositions {
    const [rows = [], ...others] = this.#parts;
    const areSame = others.every((part) => part.every((number, row) => number === rows[row]));
    const stored = { digits: this.#digits, parts: this.#parts.length, rows: distances(rows) };
    return areSame ? stored : { ...stored, others: others.map(distances) };
  }
}

export function decodedPositions({ digits, parts, rows, others }: StoredPositions): Positions {
  const first = sums(rows);
  const rest = Array.from({ length: parts - 1 }, (_, n) => (others ? sums(others[n] ?? []) : first));
  return { digits, parts: [first, ...rest] };
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
