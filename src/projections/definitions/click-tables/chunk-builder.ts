// Encodes rows as a chunk: a click is added to its columns at once, so that no event is kept until the commit.
import type { LinkClicked } from "../../../events/catalogue.ts";
import type { ClickKind } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import {
  type ChunkDocument,
  chunkId,
  type Mark,
  MOST_ROWS,
  type StoredColumn,
  type StoredColumns,
} from "./chunk.ts";
import { COLUMNS, type ColumnName, textsOf } from "./columns.ts";
import { type Column, type DecodedChunk, positionOfRow } from "./decode-chunk.ts";
import { distances, laterOf, PositionsBuilder } from "./positions.ts";

/** Of dictionaries, as strangers choose what is in them: a document of MongoDB has at most 16 MB. */
export const MOST_CHARACTERS = 4_000_000;
const [LINK, JUDGED] = [COLUMNS.indexOf("link"), COLUMNS.indexOf("judged")];

export class ChunkBuilder {
  readonly #accountId: string;
  readonly #day: string;
  readonly #at: number[] = [];
  readonly #positions = new PositionsBuilder();
  readonly #columns = COLUMNS.map(() => new ColumnBuilder());
  readonly #marks = new Map<string, Mark>();
  #first: Position = "";
  #last: Position = "";
  #firstAt = Number.POSITIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** `day`: YYYY-MM-DD. */
  constructor(accountId: string, day: string) {
    this.#accountId = accountId;
    this.#day = day;
  }

  get rows(): number {
    return this.#at.length;
  }

  /** Position of its first row; empty before it. */
  get first(): Position {
    return this.#first;
  }

  /** Position of its last row; empty before the first. */
  get last(): Position {
    return this.#last;
  }

  get isFull(): boolean {
    return (
      this.rows >= MOST_ROWS || this.#columns.reduce((sum, { size }) => sum + size, 0) >= MOST_CHARACTERS
    );
  }

  /** After those before it in the log. `recorded`: its kind before it was classified again. */
  addClick(click: LinkClicked["data"], position: Position, recorded?: ClickKind): void {
    this.#addPlace(position, Date.parse(click.at));
    const texts = textsOf(click, recorded);
    for (let n = 0; n < texts.length; n++) (this.#columns[n] as ColumnBuilder).add(texts[n] as string);
  }

  /** The rows of a later chunk with their marks, from the index `from` on and before `to`. */
  addRows(chunk: DecodedChunk, from = 0, to = chunk.rows): void {
    const shift = this.rows - from;
    for (let row = from; row < to; row++) this.#addPlace(positionOfRow(chunk, row), chunk.at[row] as number);
    for (const [n, name] of COLUMNS.entries())
      (this.#columns[n] as ColumnBuilder).addAll(chunk.columns[name], from, to);
    for (const mark of chunk.marks) this.#addMark(mark, from, to, shift);
  }

  /** The row of a chunk, without its marks. */
  addRow(chunk: DecodedChunk, row: number): void {
    this.#addPlace(positionOfRow(chunk, row), chunk.at[row] as number);
    for (let n = 0; n < COLUMNS.length; n++) {
      const { values, rows } = chunk.columns[COLUMNS[n] as ColumnName];
      (this.#columns[n] as ColumnBuilder).add(values[rows[row] as number] as string);
    }
  }

  /** Milliseconds. */
  atOf(row: number): number {
    return this.#at[row] as number;
  }

  kindOf(row: number): ClickKind {
    return (this.#columns[JUDGED] as ColumnBuilder).textOf(row) as ClickKind;
  }

  /** The rows of each link, from this one on. */
  rowsByLink(from: number): Map<string, number[]> {
    return (this.#columns[LINK] as ColumnBuilder).rowsByText(from);
  }

  positionOf(row: number): Position {
    return this.#positions.positionOf(row);
  }

  document(): ChunkDocument {
    const head = {
      accountId: this.#accountId,
      day: this.#day,
      rows: this.rows,
      first: this.#first,
      last: this.#last,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
    };
    const marks = [...this.#marks.values()];
    return {
      _id: chunkId(head),
      _position: versionOf(head.last, marks),
      ...head,
      columns: this.#stored(),
      marks,
    };
  }

  #stored(): StoredColumns {
    const columns = {} as Record<ColumnName, StoredColumn | undefined>;
    for (const [n, name] of COLUMNS.entries()) columns[name] = this.#columns[n]?.stored();
    const { judged, ...others } = columns as Record<ColumnName, StoredColumn>;
    const stored = { at: distances(this.#at), position: this.#positions.stored(), ...others };
    return isSame(judged, others.kind) ? stored : { ...stored, judged };
  }

  #addPlace(position: Position, at: number): void {
    if (this.rows === 0) this.#first = position;
    this.#last = position;
    this.#positions.add(position);
    this.#at.push(at);
    if (at < this.#firstAt) this.#firstAt = at;
    if (at > this.#lastAt) this.#lastAt = at;
  }

  #addMark({ rows, ...mark }: Mark, from: number, to: number, shift: number): void {
    const moved = rows.filter((row) => row >= from && row < to).map((row) => row + shift);
    if (moved.length === 0) return;
    const key = `${mark.withdrawalId} ${mark.from} ${mark.until}`;
    const known = this.#marks.get(key);
    if (known) for (const row of moved) known.rows.push(row);
    else this.#marks.set(key, { ...mark, rows: moved });
  }
}

/** The position of the last event that a chunk contains: a click, a withdrawal or the end of one. */
export function versionOf(last: Position, marks: readonly Mark[]): Position {
  return laterOf(last, ...marks.flatMap(({ from, until }) => [from, until]));
}

/** Of each row an index, in two bytes, as a chunk has fewer rows than they can count. */
class IndexList {
  #indexes = new Uint16Array(16);
  length = 0;

  push(index: number): void {
    if (this.length === this.#indexes.length) {
      const longer = new Uint16Array(2 * this.length);
      longer.set(this.#indexes);
      this.#indexes = longer;
    }
    this.#indexes[this.length++] = index;
  }

  at(row: number): number {
    return this.#indexes[row] as number;
  }

  toArray(): number[] {
    return Array.from(this.#indexes.subarray(0, this.length));
  }
}

class ColumnBuilder {
  /** Characters of its texts. */
  size = 0;
  readonly #indexes = new Map<string, number>();
  readonly #values: string[] = [];
  readonly #rows = new IndexList();
  #lastText: string | undefined;
  #lastIndex = 0;

  add(text: string): void {
    this.#rows.push(this.#indexOf(text));
  }

  addAll({ values, rows }: Column, from: number, to: number): void {
    const indexes = new Map<number, number>();
    for (let row = from; row < to; row++) {
      const before = rows[row] as number;
      let index = indexes.get(before);
      if (index === undefined) {
        index = this.#indexOf(values[before] as string);
        indexes.set(before, index);
      }
      this.#rows.push(index);
    }
  }

  textOf(row: number): string {
    return this.#values[this.#rows.at(row)] as string;
  }

  /** The rows from this one on with each text. */
  rowsByText(from: number): Map<string, number[]> {
    const byIndex = new Map<number, number[]>();
    for (let row = from; row < this.#rows.length; row++) {
      const index = this.#rows.at(row);
      const rows = byIndex.get(index);
      if (rows) rows.push(row);
      else byIndex.set(index, [row]);
    }
    return new Map(byIndex.entries().map(([index, rows]) => [this.#values[index] as string, rows]));
  }

  stored(): StoredColumn {
    const values = this.#values;
    return values.length <= 1 ? { values } : { values, rows: this.#rows.toArray() };
  }

  #indexOf(text: string): number {
    // Most columns have the same text many times in a row.
    if (text === this.#lastText) return this.#lastIndex;
    const known = this.#indexes.get(text);
    const index = known ?? this.#values.push(text) - 1;
    if (known === undefined) {
      this.#indexes.set(text, index);
      this.size += text.length;
    }
    this.#lastText = text;
    this.#lastIndex = index;
    return index;
  }
}

function isSame(a: StoredColumn, b: StoredColumn): boolean {
  return (
    a.values.length === b.values.length &&
    a.values.every((text, n) => text === b.values[n]) &&
    (a.rows ?? []).every((index, row) => index === b.rows?.[row])
  );
}
