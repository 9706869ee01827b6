// The rows of an account's day that are not stored yet, and the chunk that they go on from.

import type { LinkClicked } from "../../../events/catalogue.ts";
import type { ClickKind } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import { type ChunkDocument, chunkId, MOST_ROWS } from "../../definitions/click-tables/chunk.ts";
import { ChunkBuilder } from "../../definitions/click-tables/chunk-builder.ts";
import { type DecodedChunk, decodeChunk, rowsAsOf } from "../../definitions/click-tables/decode-chunk.ts";
import { versionAfter } from "../../definitions/click-tables/positions.ts";
import { type OpenDayDocument, openDayId } from "../../definitions/summaries/open-days.ts";

/** A chunk of fewer rows is replaced by one with the next rows, so that a quiet day has few chunks. */
export const SMALL_CHUNK = 300;

/** The stored chunk with a day's last rows. `version`: its `_position`. */
type Tail = { id: string; rows: number; last: Position; version: Position };

/** Rows of a link that a commit adds to a chunk. */
export type NewRows = { day: string; builder: ChunkBuilder; rows: number[] };

export class TableDay {
  readonly accountId: string;
  readonly day: string;
  readonly id: string;
  /** Undefined where the store hasn't been asked; null: it has none. */
  tail: Tail | null | undefined;
  /** The `_position` with which it is stored among the open days; undefined where it isn't. */
  listed: Position | undefined;
  appended = 0;
  /** The first one contains the tail's rows where `#stored` says so. */
  #builders: ChunkBuilder[] = [];
  /** Rows of the first builder that are stored. */
  #stored = 0;

  constructor(accountId: string, day: string) {
    this.accountId = accountId;
    this.day = day;
    this.id = openDayId(accountId, day);
  }

  get rows(): number {
    return this.#builders.reduce((sum, { rows }) => sum + rows, 0) - this.#stored;
  }

  add(click: LinkClicked["data"], position: Position, recorded?: ClickKind): void {
    let builder = this.#builders.at(-1);
    if (!builder || builder.isFull) {
      builder = new ChunkBuilder(this.accountId, this.day);
      this.#builders.push(builder);
    }
    builder.addClick(click, position, recorded);
  }

  *newRows(): Generator<[link: string, NewRows]> {
    for (const [n, builder] of this.#builders.entries())
      for (const [link, rows] of builder.rowsByLink(n === 0 ? this.#stored : 0))
        yield [link, { day: this.day, builder, rows }];
  }

  /** What the store has of it. `chunk`: of a small tail. */
  continueFrom(
    listed: OpenDayDocument | undefined,
    tail: Tail | undefined,
    chunk: ChunkDocument | undefined,
  ): void {
    this.listed = listed?._position;
    this.appended = listed?.appended ?? 0;
    this.tail = tail ?? null;
    if (!tail) return;
    // After a crash between chunk and checkpoint, the same rows come again.
    const rows = this.#builders.map((builder) => decodeChunk(builder.document()));
    const others = rows.map((part) => ({ part, from: rowsAsOf(part, tail.last) }));
    const count = others.reduce((sum, { part, from }) => sum + part.rows - from, 0);
    this.#stored = 0;
    const isContinued = chunk !== undefined && chunk.rows + count <= MOST_ROWS;
    if (!isContinued && others.every(({ from }) => from === 0)) return;
    this.#builders = [];
    if (count === 0) return;
    const parts = others.filter(({ part, from }) => from < part.rows);
    if (isContinued) {
      const builder = new ChunkBuilder(this.accountId, this.day);
      builder.addRows(decodeChunk(chunk));
      for (const { part, from } of parts) builder.addRows(part, from);
      this.#builders = [builder];
      this.#stored = chunk.rows;
    } else this.#builders = parts.map(({ part, from }) => this.#from(part, from));
  }

  /** As they are to be stored, with what is stored in their place: "" for none. */
  chunks(): { document: ChunkDocument; replaces: Position }[] {
    return this.#builders.map((builder, n) => {
      const document = builder.document();
      const replaces = n === 0 && this.#stored > 0 ? (this.tail?.version ?? "") : "";
      return { document: { ...document, _position: versionAfter(document._position, replaces) }, replaces };
    });
  }

  /** Once they are stored. */
  committed(chunks: readonly Pick<ChunkDocument, "_id" | "_position" | "rows" | "last">[]): void {
    const last = chunks.at(-1);
    const builder = this.#builders.at(-1);
    if (!last || !builder) return;
    this.tail = { id: last._id, rows: last.rows, last: last.last, version: last._position };
    const isSmall = builder.rows < SMALL_CHUNK;
    this.#builders = isSmall ? [builder] : [];
    this.#stored = isSmall ? builder.rows : 0;
  }

  /** The tail was changed in the store; what is not stored yet is kept. */
  forgetTail(): void {
    const [first, ...others] = this.#builders;
    if (first && this.#stored > 0) {
      const rows = first.rows > this.#stored ? [this.#from(decodeChunk(first.document()), this.#stored)] : [];
      this.#builders = [...rows, ...others];
    }
    this.#stored = 0;
    this.tail = undefined;
  }

  #from(part: DecodedChunk, from: number): ChunkBuilder {
    const builder = new ChunkBuilder(this.accountId, this.day);
    builder.addRows(part, from);
    return builder;
  }

  /** `_id` of the chunk with its last rows, once the chunks are stored. */
  tailId(): string {
    const builder = this.#builders.at(-1);
    if (!builder) return this.tail?.id ?? "";
    return chunkId({ accountId: this.accountId, day: this.day, first: builder.first });
  }
}
