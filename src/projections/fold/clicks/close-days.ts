// Closes days that are over: sums their tables into link-days and account-days, these into link-life, and lists the days no
// longer as open. What is written follows from tables alone, so that after a crash anywhere it is written again.
import type { Position } from "../../../stores/event-store/port.ts";
import { documentPages } from "../../../stores/read-store/document-pages.ts";
import type { Document } from "../../../stores/read-store/port.ts";
import type { DecodedChunk } from "../../definitions/click-tables/decode-chunk.ts";
import { rowsOfTable } from "../../definitions/click-tables/table.ts";
import { dayOf, daysOf, type LinkDayDocument } from "../../definitions/summaries/day.ts";
import { type LinkLifeDocument, withDay } from "../../definitions/summaries/link-life.ts";
import type { OpenDayDocument } from "../../definitions/summaries/open-days.ts";
import { sumAccount } from "../../definitions/summaries/sum-account.ts";
import { sumLinks } from "../../definitions/summaries/sum-rows.ts";
import type { Fields } from "../../projection.ts";
import { mergeChunks } from "./merge-chunks.ts";
import { type ClickWorkDeps, chunkOf, headsOf } from "./stored-tables.ts";
import { versionAfter } from "./table-day.ts";

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
const DOCUMENTS_AT_A_TIME = 200;
/** Days of links that are summed before their lives are, each life once. */
const MOST_LINK_DAYS = 200_000;
/** A full breakdown takes some milliseconds to add. */
const LIVES_AT_A_TIME = 20;
const DAYS_AT_A_TIME = 10;

/** Days of a link that were summed, in order. */
type Touched = Map<string, string[]>;

/** Yields between steps; to be ended by the caller at any of them, if need be. @throws what the store throws */
export async function* closeDays(deps: Closing): AsyncGenerator<void, void> {
  const { readStore, collections, before, isBusy } = deps;
  let touched: Touched = new Map();
  let summed: OpenDayDocument[] = [];
  let linkDays = 0;
  const search = { range: { field: "_id", to: before }, limit: PAGE };
  for await (const page of documentPages<OpenDayDocument>(readStore, collections.openDays, search))
    for (const open of page) {
      if (isBusy(open._id)) continue;
      linkDays += yield* sumDay(deps, open, touched);
      summed.push(open);
      if (linkDays < MOST_LINK_DAYS) continue;
      yield* endDays(deps, summed, touched);
      [touched, summed, linkDays] = [new Map(), [], 0];
    }
  yield* endDays(deps, summed, touched);
}

/** Returns how many links have rows. */
async function* sumDay(deps: Closing, open: OpenDayDocument, touched: Touched): AsyncGenerator<void, number> {
  const { collections, write, asOf } = deps;
  yield* mergeChunks(deps, open);
  const chunks: DecodedChunk[] = [];
  for (const { _id } of await headsOf(deps, open)) {
    const chunk = await chunkOf(deps, _id);
    if (chunk) chunks.push(chunk);
    yield;
  }
  const table = rowsOfTable(chunks, asOf);
  let count = 0;
  let days: LinkDayDocument[] = [];
  for (const day of sumLinks(open, table)) {
    if (!day) {
      yield;
      continue;
    }
    count += 1;
    const link = day._id.slice(0, -open.day.length - 1);
    const known = touched.get(link);
    if (known) known.push(open.day);
    else touched.set(link, [open.day]);
    days.push(day);
    if (days.length < DOCUMENTS_AT_A_TIME) continue;
    await write([{ collection: collections.linkDays, documents: days }]);
    days = [];
    yield;
  }
  const sums = sumAccount(open, table);
  let sum = sums.next();
  for (; !sum.done; sum = sums.next()) yield;
  await write([
    { collection: collections.linkDays, documents: days },
    { collection: collections.accountDays, documents: sum.value ? [sum.value] : [] },
  ]);
  yield;
  return count;
}

async function* endDays(
  deps: Closing,
  summed: readonly OpenDayDocument[],
  touched: Touched,
): AsyncGenerator<void, void> {
  const { readStore, collections, write, onClosed } = deps;
  const links = [...touched.keys()].sort();
  for (let at = 0; at < links.length; at += LIVES_AT_A_TIME) {
    const slice = links.slice(at, at + LIVES_AT_A_TIME);
    const stored = new Map(
      (await readStore.getMany<LinkLifeDocument>(collections.linkLife, slice)).map((life) => [
        life._id,
        life,
      ]),
    );
    const documents: LinkLifeDocument[] = [];
    const replaced = new Map<string, Position>();
    for (const link of slice) {
      const life = yield* lifeOf(deps, link, stored.get(link), touched.get(link) ?? []);
      if (!life) continue;
      const before = stored.get(link)?._position ?? "";
      replaced.set(link, before);
      documents.push({ ...life, _id: link, _position: versionAfter(life._position, before) });
    }
    await write([{ collection: collections.linkLife, documents, replaced }]);
    yield;
  }
  for (let at = 0; at < summed.length; at += DOCUMENTS_AT_A_TIME) {
    const slice = summed.slice(at, at + DOCUMENTS_AT_A_TIME);
    const removed = slice.map(({ _id, _position }) => ({ id: _id, position: _position }));
    await write([{ collection: collections.openDays, documents: [], removed }]);
    for (const { _id } of slice) onClosed(_id);
    yield;
  }
}

/** From its days on, where they follow those that it contains; else from all of its days. */
async function* lifeOf(
  { readStore, collections }: Closing,
  link: string,
  stored: LinkLifeDocument | undefined,
  days: readonly string[],
): AsyncGenerator<void, (Fields<LinkLifeDocument> & Pick<Document, "_position">) | undefined> {
  let life: Fields<LinkLifeDocument> | undefined = stored;
  let _position = stored?._position ?? "";
  const add = (day: LinkDayDocument) => {
    life = withDay(life, day);
    if (day._position > _position) _position = day._position;
  };
  if (stored && (days[0] ?? "") > stored.lastDay) {
    const ids = days.map((day) => dayOf(link, day));
    const added = await readStore.getMany<LinkDayDocument>(collections.linkDays, ids);
    for (const day of added.sort((a, b) => (a.day < b.day ? -1 : 1))) add(day);
  } else {
    [life, _position] = [undefined, ""];
    const search = { range: daysOf(link), limit: DAYS_AT_A_TIME };
    for await (const page of documentPages<LinkDayDocument>(readStore, collections.linkDays, search)) {
      for (const day of page) add(day);
      yield;
    }
  }
  return life && { ...life, _position };
}
