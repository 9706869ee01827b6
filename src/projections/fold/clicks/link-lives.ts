// Adds closed days to the lives of their links: those that come after what a life contains, else all of its days anew, as
// bounded lists can't be subtracted.
import type { ClickKind } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import { documentsById } from "../../../stores/read-store/document-pages.ts";
import { positionOfRow } from "../../definitions/click-tables/decode-chunk.ts";
import { laterOf, versionAfter } from "../../definitions/click-tables/positions.ts";
import type { AccountDayDocument } from "../../definitions/summaries/account-day.ts";
import type { Breakdown } from "../../definitions/summaries/breakdown.ts";
import type { KindOfDay, LinkDayDocument } from "../../definitions/summaries/day.ts";
import {
  type DayRows,
  partOfPlace,
  partRows,
  placesByLink,
  rowOfPlace,
} from "../../definitions/summaries/day-rows.ts";
import {
  hasRoom,
  type LifePart,
  type LinkLifeDocument,
  linkLife,
  partOfDay,
  withPart,
} from "../../definitions/summaries/link-life.ts";
import type { OpenDayDocument } from "../../definitions/summaries/open-days.ts";
import { sumLifePart, sumLinkDay } from "../../definitions/summaries/sum-rows.ts";
import type { Fields } from "../../projection.ts";
import { type ClosedDay, closedDays, DayBeingClosed, linkDaysOf } from "./stored-days.ts";
import { type ClickWorkDeps, chunkOf, headsOf } from "./stored-tables.ts";
import { PartsWriter } from "./write-in-parts.ts";

/** Of each link what changed, in the order of the days: the summary of a day, or the places of its rows. */
export type ChangedLinks = Map<string, (LinkDayDocument | number)[]>;

/** `account`: of a day that changed, which is not stored yet. */
export type SummedDay = { open: OpenDayDocument; account: AccountDayDocument | undefined };

type Life = Fields<LinkLifeDocument> & { _position: Position };

/** A full breakdown takes some milliseconds to read and to add. */
const LINKS_AT_A_TIME = 20;
/** Lives that are summed anew together, in memory. */
const MOST_ANEW = 10_000;
/** Texts that are sorted, or compared, between two pauses. */
const TEXTS_AT_A_TIME = 5_000;

/** Yields between steps. @throws what the store throws */
export async function* addToLives(
  deps: ClickWorkDeps,
  rows: DayRows,
  links: ChangedLinks,
  days: readonly SummedDay[],
): AsyncGenerator<void, void> {
  const anew = new Map<string, string[]>();
  const writer = new PartsWriter<LinkLifeDocument>(deps, linkLife.name);
  const ids = yield* inOrder([...links.keys()]);
  for (let at = 0; at < ids.length; at += LINKS_AT_A_TIME) {
    const slice = ids.slice(at, at + LINKS_AT_A_TIME);
    const stored = await documentsById<LinkLifeDocument>(deps.readStore, linkLife.name, slice);
    for (const link of slice) {
      const entries = links.get(link) as (LinkDayDocument | number)[];
      const life = stored.get(link);
      const { accountId, day } = dayOfEntry(rows, entries[0] as LinkDayDocument | number);
      if (life && contains(life, rows, entries)) continue;
      if (life && day <= life.lastDay) {
        const others = anew.get(accountId);
        if (others) others.push(link);
        else anew.set(accountId, [link]);
      } else {
        const { _position, ...summed } = withEntries(rows, life, entries);
        const before = life?._position ?? "";
        const document = { ...summed, _id: link, _position: versionAfter(_position, before) };
        await writer.add(document, sizeOf(document), before);
      }
    }
    yield;
  }
  await writer.end();
  for (const [accountId, ofAccount] of anew) yield* sumAnew(deps, accountId, ofAccount, days);
}

function withEntries(
  rows: DayRows,
  stored: LinkLifeDocument | undefined,
  entries: readonly (LinkDayDocument | number)[],
): Life {
  let life: Fields<LinkLifeDocument> | undefined = stored;
  let _position = stored?._position ?? "";
  const add = (part: LifePart) => {
    life = withPart(life, part);
    _position = laterOf(_position, part.position);
  };
  let places: number[] = [];
  const addRows = () => {
    if (places.length === 0) return;
    const parts = hasRoom(life, places.length)
      ? [places]
      : Map.groupBy(places, (place) => partOfPlace(rows, place).day).values();
    for (const part of parts) add(sumLifePart(rows, part));
    places = [];
  };
  for (const entry of entries)
    if (typeof entry === "number") places.push(entry);
    else {
      addRows();
      add(partOfDay(entry));
    }
  addRows();
  return { ...(life as unknown as Fields<LinkLifeDocument>), _position };
}

/** Where closing the day was ended after its lives were written. */
function contains(
  life: LinkLifeDocument,
  rows: DayRows,
  entries: readonly (LinkDayDocument | number)[],
): boolean {
  const [first, last] = [entries[0], entries.at(-1)] as [LinkDayDocument | number, LinkDayDocument | number];
  const isOfLastDay = [first, last].every((entry) => dayOfEntry(rows, entry).day === life.lastDay);
  if (!isOfLastDay) return false;
  const position =
    typeof last === "number"
      ? positionOfRow(partOfPlace(rows, last).chunk, rowOfPlace(last))
      : last._position;
  return life.lastDayPosition >= position;
}

function dayOfEntry(rows: DayRows, entry: LinkDayDocument | number): { accountId: string; day: string } {
  return typeof entry === "number" ? partOfPlace(rows, entry) : entry;
}

async function* sumAnew(
  deps: ClickWorkDeps,
  accountId: string,
  links: readonly string[],
  days: readonly SummedDay[],
): AsyncGenerator<void, void> {
  const writer = new PartsWriter<LinkLifeDocument>(deps, linkLife.name);
  const closed = await closedAndSummed(deps.readStore, accountId, days);
  for (let first = 0; first < links.length; first += MOST_ANEW) {
    const lives = new Map<string, Life>();
    const some = links.slice(first, first + MOST_ANEW);
    for (const day of closed)
      for (const document of yield* daysOfLinks(deps.readStore, day, some)) {
        const link = document._id.slice(0, -day.day.length - 1);
        const before = lives.get(link);
        const _position = laterOf(before?._position ?? "", document._position);
        lives.set(link, { ...withPart(before, partOfDay(document)), _position });
      }
    const ids = [...lives.keys()];
    for (let at = 0; at < ids.length; at += LINKS_AT_A_TIME) {
      const slice = ids.slice(at, at + LINKS_AT_A_TIME);
      const stored = await documentsById<LinkLifeDocument>(deps.readStore, linkLife.name, slice);
      for (const link of slice) {
        const { _position, ...life } = lives.get(link) as Life;
        const before = stored.get(link)?._position ?? "";
        const document = { ...life, _id: link, _position: versionAfter(_position, before) };
        await writer.add(document, sizeOf(document), before);
      }
      yield;
    }
    await writer.end();
  }
}

async function* daysOfLinks(
  readStore: ClickWorkDeps["readStore"],
  day: ClosedDay,
  links: readonly string[],
): AsyncGenerator<void, LinkDayDocument[]> {
  const documents: LinkDayDocument[] = [];
  try {
    for await (const document of linkDaysOf(readStore, day, links))
      if (document) documents.push(document);
      else yield;
    return documents;
  } catch (error) {
    if (!(error instanceof DayBeingClosed)) throw error;
  }
  // It is open, and closing it was ended in the middle: what has changed since it was summed is added once it is closed.
  const rows: DayRows = [];
  for (const { _id } of await headsOf(readStore, day)) {
    const chunk = await chunkOf(readStore, _id);
    if (chunk) rows.push(partRows({ chunk, from: 0, to: chunk.rows }));
    yield;
  }
  const summed: LinkDayDocument[] = [];
  for (const [link, places] of yield* placesByLink(rows, 0, new Set(links)))
    summed.push(yield* sumLinkDay(rows, link, places));
  return summed;
}

/** In their order: as they were when they were closed last, also where they are open again, and those that are being closed. */
async function closedAndSummed(
  readStore: ClickWorkDeps["readStore"],
  accountId: string,
  days: readonly SummedDay[],
): Promise<ClosedDay[]> {
  const summed = days.flatMap(({ account }) => (account?.accountId === accountId ? account : []));
  const but = new Set(summed.map(({ day }) => day));
  const others = (await Array.fromAsync(closedDays(readStore, accountId))).filter(({ day }) => !but.has(day));
  return [...others, ...summed].sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** How many values and counts a document has, so that writes are of similar sizes. */
export function valuesIn(kinds: Partial<Record<ClickKind, Breakdown & Partial<KindOfDay>>>): number {
  let values = 0;
  for (const { tallies, utm = {}, rules = [], regions = [], languages = [] } of Object.values(kinds))
    for (const list of [...tallies, ...Object.values(utm), rules, regions, languages]) values += list.length;
  return values;
}

function sizeOf({ kinds, recent }: Pick<LinkLifeDocument, "kinds" | "recent">): number {
  return 10 + 6 * recent.length + valuesIn(kinds);
}

/** So that few pages of an index change at a time. Undefined is a pause. */
function* inOrder(texts: readonly string[]): Generator<undefined, string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += TEXTS_AT_A_TIME) {
    runs.push(texts.slice(at, at + TEXTS_AT_A_TIME).sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let n = 0; n < runs.length; n += 2)
      merged.push(yield* mergedRuns(runs[n] as string[], runs[n + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedRuns(a: readonly string[], b: readonly string[]): Generator<undefined, string[]> {
  const merged: string[] = [];
  let [inA, inB] = [0, 0];
  while (inA < a.length || inB < b.length) {
    const isNextOfA = inB === b.length || (inA < a.length && (a[inA] as string) < (b[inB] as string));
    merged.push((isNextOfA ? a[inA++] : b[inB++]) as string);
    if (merged.length % TEXTS_AT_A_TIME === 0) yield;
  }
  return merged;
}
