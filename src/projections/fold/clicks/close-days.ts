// Closes days that are over: sums their tables into what is kept of a day, and adds the days to the lives of their links. What is
// written follows from tables alone, so that after a crash anywhere it is written again.

import type { Position } from "../../../stores/event-store/port.ts";
import { documentPages } from "../../../stores/read-store/document-pages.ts";
import type { Document } from "../../../stores/read-store/port.ts";
import { COLUMNS } from "../../definitions/click-tables/columns.ts";
import type { DecodedChunk } from "../../definitions/click-tables/decode-chunk.ts";
import { eventOf } from "../../definitions/click-tables/positions.ts";
import { rowsOfTable } from "../../definitions/click-tables/table.ts";
import { type AccountDayDocument, accountDays } from "../../definitions/summaries/account-day.ts";
import { dayOf, type LinkDayDocument, linkDays } from "../../definitions/summaries/day.ts";
import { changedSince, type DayRows, partRows, placesByLink } from "../../definitions/summaries/day-rows.ts";
import { type OpenDayDocument, openDays } from "../../definitions/summaries/open-days.ts";
import {
  isQuiet,
  pagesFor,
  pagesOf,
  quietLinks,
  quietPages,
} from "../../definitions/summaries/quiet-links.ts";
import { sumAccount } from "../../definitions/summaries/sum-account.ts";
import { sumLinkDay } from "../../definitions/summaries/sum-rows.ts";
import { addToLives, type ChangedLinks, type SummedDay, valuesIn } from "./link-lives.ts";
import { mergeChunks } from "./merge-chunks.ts";
import { type ClickWorkDeps, chunkOf, headsOf } from "./stored-tables.ts";
import { PartsWriter, VALUES_AT_A_TIME } from "./write-in-parts.ts";

type Closing = ClickWorkDeps & {
  /** Up to which rows are summed: withdrawals that come after it are not in the tables yet. */
  asOf: Position;
  /** Days before it are over, YYYY-MM-DD. */
  before: string;
  /** Of days that change right now, which are closed later. */
  isBusy(id: string): boolean;
  /** No longer listed as open. */
  onClosed(id: string): void;
};

const PAGE = 500;
/** What is summed of several days before it is added to the lives of their links, each life once. */
const MOST = { rows: 1_000_000, summaries: 5_000 };

/** Days that are summed, and in which nothing but their end is missing. */
type Batch = {
  rows: DayRows;
  links: ChangedLinks;
  days: SummedDay[];
  rowCount: number;
  summaries: number;
};

/** Yields between steps; to be ended by the caller at any of them, if need be. @throws what the store throws */
export async function* closeDays(deps: Closing): AsyncGenerator<void, void> {
  const { readStore, asOf, before, isBusy } = deps;
  let batch = emptyBatch();
  const search = { range: { field: "_id", to: before }, limit: PAGE };
  for await (const page of documentPages<OpenDayDocument>(readStore, openDays.name, search))
    for (const open of page) {
      // With rows behind `asOf`, which its summaries would lack, and nobody would look for.
      if (isBusy(open._id) || eventOf(open._position) > asOf) continue;
      yield* sumDay(deps, open, batch);
      if (batch.rowCount < MOST.rows && batch.summaries < MOST.summaries) continue;
      yield* endDays(deps, batch);
      batch = emptyBatch();
    }
  yield* endDays(deps, batch);
}

function emptyBatch(): Batch {
  return { rows: [], links: new Map(), days: [], rowCount: 0, summaries: 0 };
}

async function* sumDay(deps: Closing, open: OpenDayDocument, batch: Batch): AsyncGenerator<void, void> {
  const { readStore, asOf } = deps;
  yield* mergeChunks(deps, open);
  const chunks: DecodedChunk[] = [];
  for (const { _id } of await headsOf(readStore, open)) {
    const chunk = await chunkOf(readStore, _id);
    if (chunk) chunks.push(chunk);
    yield;
  }
  const { rows } = batch;
  const first = rows.length;
  for (const part of rowsOfTable(chunks, asOf)) {
    rows.push(partRows(part));
    batch.rowCount += part.to - part.from;
  }
  if (rows.length === first) return void batch.days.push({ open, account: undefined });
  const id = dayOf(open.accountId, open.day);
  const before = (await readStore.get<AccountDayDocument>(accountDays.name, id))?._position ?? "";
  const sum = yield* sumAccount(open, rows.slice(first));
  if (sum._position === before) return void batch.days.push({ open, account: undefined });
  const isChanged = changedSince(rows, before);
  const quiet = new Map<string, number[]>();
  let quietRows = 0;
  const writing = new PartsWriter<LinkDayDocument>(deps, linkDays.name);
  for (const [link, places] of yield* placesByLink(rows, first)) {
    const entries = batch.links.get(link) ?? [];
    if (isQuiet(rows, places)) {
      quiet.set(link, places);
      quietRows += places.length;
      if (places.some(isChanged)) for (const place of places) entries.push(place);
    } else if (places.some(isChanged)) {
      const day = yield* sumLinkDay(rows, link, places);
      entries.push(day);
      batch.summaries += 1;
      if (await writing.add(day, 4 * day.quarters.length + valuesIn(day.kinds))) yield;
    }
    if (entries.length > 0) batch.links.set(link, entries);
    if (quiet.size % PAGE === 0) yield;
  }
  if (await writing.end()) yield;
  const account: AccountDayDocument = { ...sum, quietPages: pagesFor(quietRows) };
  yield* writePages(deps, account, rows, quiet);
  batch.days.push({ open, account });
  batch.summaries += 1;
}

async function* writePages(
  deps: Closing,
  account: AccountDayDocument,
  rows: DayRows,
  quiet: ReadonlyMap<string, readonly number[]>,
): AsyncGenerator<void, void> {
  const { readStore, write } = deps;
  const search = { range: pagesOf(account), fields: [], limit: PAGE };
  const before = new Map<string, Position>();
  for await (const page of documentPages<Document>(readStore, quietLinks.name, search))
    for (const { _id, _position } of page) before.set(_id, _position);
  const writing = new PartsWriter(deps, quietLinks.name);
  for (const page of quietPages(account, rows, quiet)) {
    before.delete(page._id);
    if (await writing.add(page, COLUMNS.length * page.rows)) yield;
  }
  if (await writing.end()) yield;
  const removed = Array.from(before, ([id, position]) => ({ id, position }));
  if (removed.length > 0) await write([{ collection: quietLinks.name, documents: [], removed }]);
}

/** Lives first, as a day that has been summed before is not added to them again; its links are readable with the account's day. */
async function* endDays(deps: Closing, { rows, links, days }: Batch): AsyncGenerator<void, void> {
  const { write, onClosed } = deps;
  yield* addToLives(deps, rows, links, days);
  let ended: Batch["days"] = [];
  let values = 0;
  const end = async () => {
    const documents = ended.flatMap(({ account }) => account ?? []);
    const removed = ended.map(({ open: { _id, _position } }) => ({ id: _id, position: _position }));
    await write([
      { collection: accountDays.name, documents },
      { collection: openDays.name, documents: [], removed },
    ]);
    for (const { open } of ended) onClosed(open._id);
    [ended, values] = [[], 0];
  };
  for (const day of days) {
    ended.push(day);
    values += day.account ? valuesInAccount(day.account) : 1;
    if (values < VALUES_AT_A_TIME) continue;
    await end();
    yield;
  }
  if (ended.length > 0) await end();
}

function valuesInAccount({ quarters, hours, values }: AccountDayDocument): number {
  let count = 4 * quarters.length + hours.length;
  for (const list of Object.values(values)) count += list.length;
  return count;
}
