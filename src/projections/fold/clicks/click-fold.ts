// Folds clicks into tables and totals: rows are taken into columns, and a commit appends them as chunks of their days.

import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { LinkClicked } from "../../../events/catalogue.ts";
import type { ClickKind } from "../../../events/vocabulary.ts";
import type { Position, RecordedEvent } from "../../../stores/event-store/port.ts";
import { documentsById } from "../../../stores/read-store/document-pages.ts";
import type { CollectionWrite, Document, ReadStore } from "../../../stores/read-store/port.ts";
import { clickHours } from "../../definitions/click-hours.ts";
import {
  CHUNK_HEAD,
  type ChunkDocument,
  chunksOf,
  clickTables,
} from "../../definitions/click-tables/chunk.ts";
import { versionAfter } from "../../definitions/click-tables/positions.ts";
import { linkTotals } from "../../definitions/link-totals.ts";
import { type OpenDayDocument, openDayId, openDays } from "../../definitions/summaries/open-days.ts";
import { ClickHoursFold } from "./click-hours-fold.ts";
import { type LinkRows, LinkTotalsFold } from "./link-totals-fold.ts";
import type { StoredHead } from "./stored-tables.ts";
import { SMALL_CHUNK, TableDay } from "./table-day.ts";

/** A day with more chunks than this since some were merged has them merged. */
const MOST_APPENDED = 64;
const AT_A_TIME = 250;
/** Days and totals that are kept in memory between commits. */
const MOST_KEPT = { days: 1_000, totals: 5_000 };

type Deps = {
  readStore: Pick<ReadStore, "find" | "getMany">;
  /** Whether nothing was stored when it began. */
  isFresh: boolean;
};

/** A click of a link that is being counted again. */
type WatchedHit = { at: string; kind: ClickKind; position: Position };

export class ClickFold {
  /** Days with many chunks, by id. */
  readonly crowded = new Map<string, { accountId: string; day: string }>();
  readonly #deps: Deps;
  readonly #totals: LinkTotalsFold;
  readonly #hours: ClickHoursFold;
  readonly #days = new Map<string, TableDay>();
  /** Those with rows that are not stored. */
  readonly #changing = new Set<TableDay>();
  readonly #watched = new Map<string, WatchedHit[]>();
  /** Whether a day that is not listed as open may have a table. */
  #mayBeClosed: boolean;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#mayBeClosed = !deps.isFresh;
    this.#hours = new ClickHoursFold(deps.readStore);
    this.#totals = new LinkTotalsFold(deps.readStore, MOST_KEPT.totals);
  }

  /** Tables that the next commit writes. */
  get changing(): number {
    return this.#changing.size;
  }

  /** `recorded`: its kind before it was classified again. */
  take(
    click: LinkClicked["data"],
    { position, recordedAt }: Pick<RecordedEvent, "position" | "recordedAt">,
    recorded?: ClickKind,
  ): void {
    const { accountId, at, link, kind } = click;
    const id = openDayId(accountId, at.slice(0, 10));
    let day = this.#days.get(id);
    if (!day) {
      day = new TableDay(accountId, at.slice(0, 10));
      this.#days.set(id, day);
    }
    day.add(click, position, recorded);
    this.#changing.add(day);
    this.#hours.take(recordedAt, position);
    this.#watched.get(link)?.push({ at, kind, position });
  }

  /** The clicks of the link that are taken from now on, until `unwatch`. */
  watch(link: string): readonly WatchedHit[] {
    const hits: WatchedHit[] = [];
    this.#watched.set(link, hits);
    return hits;
  }

  unwatch(link: string): void {
    this.#watched.delete(link);
  }

  /**
   * What a commit up to the position writes. `overBefore`: YYYY-MM-DD; earlier days may be closed at any time, which the
   * commit prevents. `over`: those that it changes; `onWritten`: to be called afterwards. @throws what the read store throws
   */
  async commit(
    to: Position,
    overBefore: string,
  ): Promise<{ documents: CollectionWrite[]; over: string[]; onWritten: () => void }> {
    const days = [...this.#changing];
    this.#changing.clear();
    // Before rows are left out that a chunk has already, and the totals perhaps not.
    const rowsByLink = byLink(days);
    await this.#lookUp(days.filter(({ tail }) => tail === undefined));
    const opened: OpenDayDocument[] = [];
    const chunks: ChunkDocument[] = [];
    const replaced = new Map<string, Position>();
    const written: { day: TableDay; chunks: ChunkDocument[]; rows: number }[] = [];
    for (const day of days) {
      const rows = day.rows;
      const documents = day.chunks();
      for (const { document, replaces } of documents) {
        chunks.push(document);
        replaced.set(document._id, replaces);
      }
      const begun = documents.filter(({ replaces }) => replaces === "").length;
      day.appended += begun;
      if (rows > 0 && (begun > 0 || day.listed === undefined || day.day < overBefore)) {
        // Also where a commit that failed had come further: what names the last chunk must be what was written last.
        day.listed = versionAfter(to, day.listed ?? "");
        opened.push(openDay(day, day.listed));
      }
      if (day.appended > MOST_APPENDED) this.crowded.set(day.id, day);
      written.push({ day, chunks: documents.map(({ document }) => document), rows });
      if (chunks.length % AT_A_TIME === 0) await yieldToLoop();
    }
    const totals = await this.#totals.fold(rowsByLink, () => yieldToLoop());
    return {
      documents: [
        { collection: openDays.name, documents: opened.sort(byId) },
        { collection: clickTables.name, documents: chunks.sort(byId), replaced },
        { collection: linkTotals.name, documents: totals },
        { collection: clickHours.name, documents: await this.#hours.fold() },
      ],
      over: opened.filter(({ day }) => day < overBefore).map(({ _id }) => _id),
      onWritten: () => {
        for (const { day, chunks } of written) day.committed(chunks);
        this.#keepBusiest(written);
      },
    };
  }

  /** A chunk of the day was changed otherwise. */
  forgetTail(id: string): void {
    const day = this.#days.get(id);
    if (day && day.rows === 0) this.#days.delete(id);
    else day?.forgetTail();
  }

  /** Its chunks were merged. */
  merged(id: string): void {
    const day = this.#days.get(id);
    if (day) day.appended = 0;
    this.crowded.delete(id);
  }

  closed(id: string): void {
    this.#mayBeClosed = true;
    const day = this.#days.get(id);
    if (day && day.rows === 0) this.#days.delete(id);
    else if (day) day.listed = undefined;
  }

  forgetTotals(link: string): void {
    this.#totals.forget(link);
  }

  async #lookUp(days: readonly TableDay[]): Promise<void> {
    const { readStore } = this.#deps;
    for (let at = 0; at < days.length; at += AT_A_TIME) {
      const slice = days.slice(at, at + AT_A_TIME);
      const dayIds = slice.map(({ id }) => id);
      const listed = await documentsById<OpenDayDocument>(readStore, openDays.name, dayIds);
      const tailIds = Array.from(listed.values(), ({ tail }) => tail);
      const heads = new Map((await this.#headsOf(tailIds)).map((head) => [head._id, head]));
      const tails = new Map<TableDay, StoredHead>();
      for (const day of slice) {
        const open = listed.get(day.id);
        const head =
          heads.get(open?.tail ?? "") ?? (open || this.#mayBeClosed ? await this.#lastChunk(day) : undefined);
        if (head) tails.set(day, head);
      }
      const small = [...tails.values()].filter(({ rows }) => rows < SMALL_CHUNK).map(({ _id }) => _id);
      const whole = await documentsById<ChunkDocument>(readStore, clickTables.name, small);
      for (const day of slice) {
        const head = tails.get(day);
        const tail = head && { id: head._id, rows: head.rows, last: head.last, version: head._position };
        day.continueFrom(listed.get(day.id), tail, whole.get(head?._id ?? ""));
      }
      await yieldToLoop();
    }
  }

  /** By a search, as a store reads the columns of chunks that are asked for by their ids. */
  async #headsOf(ids: readonly string[]): Promise<StoredHead[]> {
    if (ids.length === 0) return [];
    const search = { in: { _id: ids }, limit: ids.length, fields: CHUNK_HEAD };
    return await this.#deps.readStore.find<StoredHead>(clickTables.name, search);
  }

  /** Of a closed day, or one whose chunk was not written before a crash. */
  async #lastChunk({ accountId, day }: TableDay): Promise<StoredHead | undefined> {
    const { readStore } = this.#deps;
    const [last] = await readStore.find<StoredHead>(clickTables.name, {
      range: chunksOf(accountId, day, day),
      sort: { field: "_id", direction: "desc" },
      ...{ limit: 1, fields: CHUNK_HEAD },
    });
    return last;
  }

  #keepBusiest(written: readonly { day: TableDay; rows: number }[]): void {
    const busiest = written.length <= MOST_KEPT.days ? written : written.toSorted((a, b) => b.rows - a.rows);
    for (const { day } of busiest.slice(0, MOST_KEPT.days).reverse()) {
      this.#days.delete(day.id);
      this.#days.set(day.id, day);
    }
    // Those that changed last are behind.
    for (const [id, day] of this.#days) {
      if (this.#days.size <= MOST_KEPT.days) break;
      if (day.rows === 0) this.#days.delete(id);
    }
  }
}

function openDay(day: TableDay, position: Position): OpenDayDocument {
  const { id, accountId, appended } = day;
  return { _id: id, _position: position, accountId, day: day.day, tail: day.tailId(), appended };
}

function byLink(days: readonly TableDay[]): Map<string, LinkRows> {
  const rowsByLink = new Map<string, LinkRows>();
  for (const day of days)
    for (const [link, added] of day.newRows()) {
      const known = rowsByLink.get(link);
      if (known) known.parts.push(added);
      else rowsByLink.set(link, { accountId: day.accountId, parts: [added] });
    }
  return rowsByLink;
}

function byId(a: Document, b: Document): number {
  return a._id < b._id ? -1 : 1;
}
