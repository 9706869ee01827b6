// Marks the rows that a withdrawal takes out, or that count again after it, and sums the link's totals anew. Rows have what
// most withdrawals name; a visitor, a network or a user agent is looked up in the log at the link's own clicks.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { readableEvent } from "../../../events/read-event.ts";
import { CATEGORY, withdrawalStream } from "../../../events/streams.ts";
import type { ClickKind } from "../../../events/vocabulary.ts";
import { isSelectedBy, type Withdrawal, withdrawalsAfter } from "../../../events/withdrawals.ts";
import type { EventStore, Position } from "../../../stores/event-store/port.ts";
import { streamPages } from "../../../stores/event-store/stream-pages.ts";
import { type ChunkDocument, clickTables, type Mark } from "../../definitions/click-tables/chunk.ts";
import { versionOf } from "../../definitions/click-tables/chunk-builder.ts";
import {
  type DecodedChunk,
  decodeChunk,
  positionOfRow,
  rowsAsOf,
  withdrawnRows,
} from "../../definitions/click-tables/decode-chunk.ts";
import { laterOf, versionAfter } from "../../definitions/click-tables/positions.ts";
import { rowsOfTable } from "../../definitions/click-tables/table.ts";
import {
  addHits,
  hitsOfDay,
  hitsOfRows,
  type LinkTotalsDocument,
  linkTotals,
  noHits,
} from "../../definitions/link-totals.ts";
import { type OpenDayDocument, openDayId, openDays } from "../../definitions/summaries/open-days.ts";
import type { Fields } from "../../projection.ts";
import { closedDays, linkDayOf } from "./stored-days.ts";
import {
  type ClickWorkDeps,
  chunkHeads,
  chunkOf,
  headsOf,
  openDaysOf,
  type StoredHead,
} from "./stored-tables.ts";

/** A withdrawal, or the end of one, whose rows are not marked yet. */
export type PendingWithdrawal = { link: string; position: Position };

type Marking = ClickWorkDeps & {
  eventStore: Pick<EventStore, "read" | "readAll">;
  /** Up to which the tables have every click. */
  asOf: Position;
  /** A chunk of the day was written. */
  onMarked(id: string): void;
};

/** A page of the log, of which the next click is looked for. */
const EVENTS_AT_A_TIME = 500;

type Change = { withdrawal: Withdrawal; position: Position; isEnd: boolean };

/**
 * Marks what the pending events of the link say. Yields between steps, and ends with the link's totals without what is
 * withdrawn, up to `asOf`; undefined where it has none. Marks that are there already stay as they are, so that after a crash
 * it is begun again. @throws what the stores throw
 */
export async function* markWithdrawn(
  deps: Marking,
  link: string,
  pending: readonly PendingWithdrawal[],
): AsyncGenerator<void, Fields<LinkTotalsDocument> | undefined> {
  const { readStore } = deps;
  const totals = await readStore.get<LinkTotalsDocument>(linkTotals.name, link);
  if (!totals) return undefined;
  const { accountId } = totals;
  const wanted = new Set(pending.map(({ position }) => position));
  for (const change of await changesOf(deps, link, wanted)) {
    const { from, to } = change.withdrawal;
    for await (const head of chunkHeads(readStore, accountId, from.slice(0, 10), to.slice(0, 10))) {
      if (head.first <= change.withdrawal.upTo) await markChunk(deps, link, head, change);
      yield;
    }
  }
  return yield* sumTotals(deps, link, accountId);
}

/** Those at the wanted positions, in their order. */
async function changesOf(
  { eventStore }: Pick<Marking, "eventStore">,
  link: string,
  wanted: ReadonlySet<Position>,
): Promise<Change[]> {
  const changes: Change[] = [];
  let inForce: readonly Withdrawal[] = [];
  for await (const page of streamPages(eventStore, withdrawalStream(link)))
    for (const recorded of page) {
      const event = readableEvent(recorded);
      if (!event) continue;
      const after = withdrawalsAfter(inForce, event);
      const begun = after.filter((withdrawal) => !inForce.includes(withdrawal));
      const ended = inForce.filter((withdrawal) => !after.includes(withdrawal));
      const { position } = recorded;
      if (wanted.has(position)) {
        changes.push(...begun.map((withdrawal) => ({ withdrawal, position, isEnd: false })));
        changes.push(...ended.map((withdrawal) => ({ withdrawal, position, isEnd: true })));
      }
      inForce = after;
    }
  return changes;
}

async function markChunk(deps: Marking, link: string, head: StoredHead, change: Change): Promise<void> {
  const { readStore, write, onMarked } = deps;
  const { withdrawal, position } = change;
  // The log is read before the chunk is read to be replaced, as a commit may replace it meanwhile.
  const selected = change.isEnd ? undefined : await selectedOf(deps, link, head, withdrawal);
  const document = await readStore.get<ChunkDocument>(clickTables.name, head._id);
  if (!document) return;
  const marks = change.isEnd
    ? endedMarks(document.marks, withdrawal, position)
    : begunMarks(decodeChunk(document), withdrawal, position, link, selected);
  if (!marks) return;
  const { _id, accountId, day } = document;
  const id = openDayId(accountId, day);
  const [opened] = await readStore.getMany<OpenDayDocument>(openDays.name, [id]);
  const version = versionAfter(versionOf(document.last, marks), document._position);
  const last = (await headsOf(readStore, { accountId, day })).at(-1)?._id ?? _id;
  const open: OpenDayDocument = {
    ...(opened ?? { accountId, day, tail: last, appended: 0 }),
    _id: id,
    // A day that is being closed at this moment by somebody else stays open.
    _position: opened ? versionAfter(position, opened._position) : position,
  };
  const marked: ChunkDocument = { ...document, _position: version, marks };
  await write([
    { collection: openDays.name, documents: [open] },
    {
      collection: clickTables.name,
      documents: [marked],
      replaced: new Map([[_id, document._position]]),
    },
  ]);
  onMarked(id);
}

/** Rows of the link that the withdrawal may select. */
function candidatesIn(chunk: DecodedChunk, link: string, withdrawal: Withdrawal): number[] {
  const { values, rows } = chunk.columns.link;
  const index = values.indexOf(link);
  if (index < 0) return [];
  const isInTime = isSelectedBy({ from: withdrawal.from, to: withdrawal.to });
  const [from, to] = [Date.parse(withdrawal.from), Date.parse(withdrawal.to)];
  const candidates: number[] = [];
  const end = rowsAsOf(chunk, withdrawal.upTo);
  for (let row = 0; row < end; row++) {
    if (rows[row] !== index) continue;
    const time = chunk.at[row] as number;
    // Of the bounds themselves their texts decide.
    if (time < from || time > to) continue;
    const isWithin = time > from && time < to;
    if (isWithin || isInTime({ at: new Date(time).toISOString() } as Parameters<typeof isInTime>[0]))
      candidates.push(row);
  }
  return candidates;
}

/** Of the chunk's rows the positions of those that the withdrawal selects by what only their events have; undefined: it names no such thing. */
async function selectedOf(
  deps: Marking,
  link: string,
  head: StoredHead,
  withdrawal: Withdrawal,
): Promise<ReadonlySet<Position> | undefined> {
  const { visitor, ipPrefix, userAgent } = withdrawal;
  if (visitor === undefined && ipPrefix === undefined && userAgent === undefined) return undefined;
  const chunk = await chunkOf(deps.readStore, head._id);
  const rows = chunk ? candidatesIn(chunk, link, withdrawal) : [];
  const positions = rows.map((row) => positionOfRow(chunk as DecodedChunk, row));
  const isSelected = isSelectedBy(withdrawal);
  const selected = new Set<Position>();
  for (let at = 0; at < positions.length; ) {
    const from = positions[at] as Position;
    const { events: page } = await deps.eventStore.readAll({
      from,
      categories: [CATEGORY.clicks],
      limit: EVENTS_AT_A_TIME,
    });
    const last = page.at(-1)?.position ?? from;
    const byPosition = new Map(page.map((event) => [event.position, event]));
    for (; at < positions.length && (positions[at] as Position) <= last; at++) {
      const recorded = byPosition.get(positions[at] as Position);
      const event = recorded && readableEvent(recorded);
      if (event?.type === "LinkClicked" && isSelected(event.data as LinkClicked["data"]))
        selected.add(event.position);
    }
  }
  return selected;
}

/** Undefined where nothing changes. */
function endedMarks(
  marks: readonly Mark[],
  { withdrawalId }: Withdrawal,
  position: Position,
): Mark[] | undefined {
  const isEnded = (mark: Mark) =>
    mark.withdrawalId === withdrawalId && mark.until === "" && mark.from < position;
  if (!marks.some(isEnded)) return undefined;
  return marks.map((mark) => (isEnded(mark) ? { ...mark, until: position } : mark));
}

function begunMarks(
  chunk: DecodedChunk,
  withdrawal: Withdrawal,
  position: Position,
  link: string,
  selected: ReadonlySet<Position> | undefined,
): Mark[] | undefined {
  const { withdrawalId } = withdrawal;
  const isMarked = (mark: Mark) => mark.withdrawalId === withdrawalId && mark.from === position;
  const candidates = candidatesIn(chunk, link, withdrawal);
  const rows = selected ? candidates.filter((row) => selected.has(positionOfRow(chunk, row))) : candidates;
  const marked = new Set(chunk.marks.filter(isMarked).flatMap((mark) => mark.rows));
  const missing = rows.filter((row) => !marked.has(row));
  if (missing.length === 0) return undefined;
  return [...chunk.marks, { withdrawalId, from: position, until: "", rows: missing }];
}

/** Closed days are summed up already; of open ones the tables are read. */
async function* sumTotals(
  deps: Marking,
  link: string,
  accountId: string,
): AsyncGenerator<void, Fields<LinkTotalsDocument>> {
  const { readStore, asOf } = deps;
  const totals = noHits(accountId);
  const open = await openDaysOf(readStore, accountId);
  for await (const closed of closedDays(readStore, accountId)) {
    if (open.includes(closed.day)) continue;
    const day = await linkDayOf(readStore, closed, link);
    if (day) addHits(totals, hitsOfDay(day));
    yield;
  }
  for (const day of open) {
    const chunks: DecodedChunk[] = [];
    for (const { _id, first } of await headsOf(readStore, { accountId, day })) {
      const chunk = first <= asOf ? await chunkOf(readStore, _id) : undefined;
      if (chunk?.columns.link.values.includes(link)) chunks.push(chunk);
      yield;
    }
    for (const { chunk, from, to } of rowsOfTable(chunks, asOf)) countRows(totals, chunk, link, from, to);
  }
  return totals;
}

function countRows(
  totals: Fields<LinkTotalsDocument>,
  chunk: DecodedChunk,
  link: string,
  start: number,
  end: number,
): void {
  const { link: links, judged } = chunk.columns;
  const index = links.values.indexOf(link);
  if (index < 0) return;
  const withdrawn = withdrawnRows(chunk);
  const rows: number[] = [];
  for (let row = start; row < end; row++) if (links.rows[row] === index && !withdrawn?.[row]) rows.push(row);
  if (rows.length === 0) return;
  const kindOf = (row: number) => judged.values[judged.rows[row] as number] as ClickKind;
  addHits(totals, hitsOfRows(chunk.day, rows, { kindOf, atOf: (row) => chunk.at[row] as number }));
}

/** Of the totals that replace the stored ones. */
export function totalsPosition(stored: LinkTotalsDocument, pending: readonly PendingWithdrawal[]): Position {
  return versionAfter(
    laterOf(stored._position, ...pending.map(({ position }) => position)),
    stored._position,
  );
}
