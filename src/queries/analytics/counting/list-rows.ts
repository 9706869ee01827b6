// Lists rows of an account's click tables that fit a question, in the order of the log across their days, and reads their events:
// for lists and exports of single clicks. They are those that numbers count.
import type { LinkClicked, StoredEvent } from "../../../events/catalogue.ts";
import { reclassified } from "../../../events/classification/reclassify.ts";
import { readableEvent } from "../../../events/read-event.ts";
import { CATEGORY } from "../../../events/streams.ts";
import {
  type DecodedChunk,
  positionOfRow,
} from "../../../projections/definitions/click-tables/decode-chunk.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { EventStore, Position } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { dateOf } from "../time-zone.ts";
import { linkTags, noTags } from "./link-tags.ts";
import { type RowFilter, selectRows } from "./select-rows.ts";
import type { Head, TableReader } from "./table-reader.ts";

export type RowSearch = RowFilter & {
  accountId: string;
  /** Rows behind this position. */
  after: Position;
};

/** Rows of one chunk that are left, in their order. */
type Cursor = { chunk: DecodedChunk; rows: Uint32Array; next: number; position: Position };

const ROWS_AT_A_TIME = 1_000;

/** Positions of the rows, at most 1,000 at a time. @throws ChunkReplaced, the reason of the slices' signal, what the store throws */
export async function* positionsOfRows(
  { reader, readStore }: { reader: TableReader; readStore: Pick<ReadStore, "getMany"> },
  search: RowSearch,
  slices: TimeSlices,
): AsyncGenerator<Position[]> {
  const waiting = (await headsOf(reader, search)).toSorted((a, b) => (a.first < b.first ? 1 : -1));
  const tags = linkTags(readStore);
  let open: Cursor[] = [];
  let batch: Position[] = [];
  for (;;) {
    const nearest = leastOf(open);
    const head = waiting.at(-1);
    // A chunk may be first of all as long as it begins before the nearest row.
    if (head && (!nearest || head.first <= nearest.position)) {
      waiting.pop();
      await slices.next();
      const cursor = await cursorOf(head);
      if (cursor) open.push(cursor);
      continue;
    }
    if (!nearest) break;
    batch.push(nearest.position);
    if (!advance(nearest)) open = open.filter((cursor) => cursor !== nearest);
    if (batch.length < ROWS_AT_A_TIME) continue;
    yield batch;
    batch = [];
    await slices.next();
  }
  if (batch.length > 0) yield batch;

  async function cursorOf(head: Head): Promise<Cursor | undefined> {
    const table = await reader.rowsOf(head, search.asOf, slices);
    const tagsOf = search.filters.tag ? await tags.ofLinksIn([table], slices) : noTags;
    const cursor = { chunk: table.chunk, rows: selectRows(table, search, tagsOf), next: 0, position: "" };
    while (advance(cursor)) if (cursor.position > search.after) return cursor;
    return undefined;
  }
}

/** Chunks that may have rows of the search. */
async function headsOf(
  reader: TableReader,
  { accountId, from, to, after, asOf }: RowSearch,
): Promise<Head[]> {
  const [first, last] = [from, to].map(dateOf);
  const days = await reader.days(accountId, first, last);
  return days
    .flatMap(({ heads }) => heads)
    .filter((head) => head.lastAt >= from && head.firstAt < to && head.last > after && head.first <= asOf);
}

/** False at its end. */
function advance(cursor: Cursor): boolean {
  const row = cursor.rows[cursor.next];
  if (row === undefined) return false;
  cursor.next += 1;
  cursor.position = positionOfRow(cursor.chunk, row);
  return true;
}

function leastOf(open: readonly Cursor[]): Cursor | undefined {
  let least = open[0];
  for (const cursor of open) if (least && cursor.position < least.position) least = cursor;
  return least;
}

export type ClickEvent = StoredEvent & LinkClicked;

const MOST_AT_ONCE = 1_000;
/** At first, as it isn't known yet how far apart they are. */
const FIRST_AT_ONCE = 50;

/**
 * The clicks at positions, which are in the order of the log; `rules`: classified again under these. One at a time where others
 * lie between them, and more the nearer they are. @throws EventNewer, what the store throws
 */
export async function* clicksAt(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  positions: readonly Position[],
  rules: string | undefined,
  slices: TimeSlices,
): AsyncGenerator<ClickEvent[]> {
  const wanted = new Set(positions);
  let limit = Math.min(FIRST_AT_ONCE, positions.length);
  for (let n = 0; n < positions.length; ) {
    await slices.next();
    const { events: page } = await eventStore.readAll({
      from: positions[n] as Position,
      categories: [CATEGORY.clicks],
      limit,
    });
    const clicks = page.filter(({ position }) => wanted.has(position));
    if (clicks.length === 0) {
      n += 1;
      continue;
    }
    n += clicks.length;
    limit = clicks.length * 4 >= page.length ? Math.min(MOST_AT_ONCE, limit * 2) : Math.max(1, limit >> 1);
    yield clicks.flatMap((recorded) => {
      const event = readableEvent(recorded);
      if (event?.type !== "LinkClicked") return [];
      return [rules === undefined ? event : reclassified(event, rules)];
    });
  }
}
