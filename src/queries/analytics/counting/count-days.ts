// Counts the UTC days of a question one after the other: whole closed ones from what was summed when they were closed, where that
// has what is asked, the others from their tables. What was counted of a day is kept, as pages ask the same again.
import { LRUCache } from "lru-cache";
import type { ChunkRows } from "../../../projections/definitions/click-tables/table.ts";
import { type LinkDocument, links } from "../../../projections/definitions/links.ts";
import {
  type AccountDayDocument,
  accountDays,
  dayOf,
} from "../../../projections/definitions/summaries/day.ts";
import { DayBeingClosed } from "../../../projections/fold/clicks/stored-days.ts";
import { Refused } from "../../../runtime/refused.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { closedLinkDay } from "../closed-link-days.ts";
import type { Period } from "../resolve-question.ts";
import { DAY_MS, QUARTER_MS } from "../time-zone.ts";
import { type Counting, countRows, type DayCounts, placeOf } from "./count-rows.ts";
import { countSummary, tallyOf } from "./count-summary.ts";
import type { TagsOf } from "./group-values.ts";
import { type DaysSum, midnightOf } from "./sum-days.ts";
import {
  ChunkReplaced,
  eventOf,
  keyOf as keyOfChunk,
  rowsIn,
  type TableDay,
  type TableReader,
} from "./table-reader.ts";

type Deps = { reader: TableReader; readStore: Pick<ReadStore, "get" | "getMany"> };

/** Values of groups and points that are kept, of some 150 bytes each. */
const KEPT_VALUES = 100_000;
/** Rows of the account that are counted for one question: some 0.5 µs each, at first. */
export const MOST_READ = 10_000_000;
const LINKS_AT_A_TIME = 500;
/** Values of all groups together, which are in memory until the answer is there. */
const MOST_VALUES = 300_000;

export type CountDays = ReturnType<typeof dayCounter>;

/** One for all that ask. `mostRead`: less in tests. */
export function dayCounter({ reader, readStore }: Deps, mostRead = MOST_READ) {
  const kept = new LRUCache<string, DayCounts>({ maxSize: KEPT_VALUES, sizeCalculation: sizeOf });

  async function fromTables(day: TableDay, part: Part, of: Counting, slices: TimeSlices) {
    const tables = await Array.fromAsync(reader.tables(day.heads, of.asOf, slices));
    const tagsOf = isByTag(of) ? await presentTags(readStore, tables, slices) : noTags;
    return await countRows(day.day, tables, { ...of, ...part }, tagsOf, slices);
  }

  /** Undefined where the summary is not that of the table, or hasn't what is asked. */
  async function fromSummary(day: TableDay, part: Part, of: Counting): Promise<DayCounts | undefined> {
    if (!isSummed(day, part, of)) return undefined;
    const [link] = of.filters.link ?? [];
    const ofAccount = dayOf(of.accountId, day.day);
    // Written last, so that those of the links are there.
    const account = await readStore.get<AccountDayDocument>(accountDays.name, ofAccount);
    if (!account || eventOf(account._position) !== day.version) return undefined;
    const kinds = of.kinds.filter((kind) => of.filters.kind?.includes(kind) ?? true);
    const asked = { kinds, starts: part.starts, groupBy: of.groupBy, visitorKinds: of.visitorKinds };
    if (link === undefined) return countSummary(day.day, account, asked);
    try {
      return countSummary(day.day, await closedLinkDay(readStore, account, link), asked);
    } catch (error) {
      if (error instanceof DayBeingClosed) return undefined;
      throw error;
    }
  }

  /** @throws range_too_large, ChunkReplaced, the reason of the slices' signal, what the store throws */
  return async (
    days: readonly TableDay[],
    period: Period,
    of: Counting,
    sum: Pick<DaysSum, "add" | "size">,
    slices: TimeSlices,
  ): Promise<void> => {
    let read = 0;
    for (const day of days) {
      await slices.next();
      const bounds = boundsIn(day, period);
      if (!bounds) continue;
      const midnight = midnightOf(day.day);
      const first = placeOf(of.starts, midnight);
      const starts = of.starts.slice(first, placeOf(of.starts, midnight + DAY_MS) + 1);
      const part = { ...bounds, starts };
      const key = keyOf(day, part, of);
      let counts = key === undefined ? undefined : kept.get(key);
      if (!counts) {
        counts = await fromSummary(day, part, of);
        if (counts && (await reader.queried()) !== day.heads[0]?.build)
          throw new ChunkReplaced("Another build has taken over");
      }
      if (!counts) {
        read += rowsIn(day);
        if (read > mostRead) throw new Refused("range_too_large");
        counts = await fromTables(day, part, of, slices);
      }
      if (key !== undefined) kept.set(key, counts);
      sum.add(counts, first);
      if (sum.size > MOST_VALUES) throw new Refused("range_too_large");
    }
  };
}

type Part = Period & { starts: readonly number[] };

/** What of the period the day may have rows in; without bounds that cut none of them, so that answers are found again. */
function boundsIn({ heads }: TableDay, { from, to }: Period): Period | undefined {
  const earliest = Math.min(...heads.map(({ firstAt }) => firstAt));
  const latest = Math.max(...heads.map(({ lastAt }) => lastAt));
  if (latest < from || earliest >= to) return undefined;
  return {
    from: from <= earliest ? Number.NEGATIVE_INFINITY : from,
    to: to > latest ? Number.POSITIVE_INFINITY : to,
  };
}

/** Whether the day's summary has what is asked, if it is up to date. */
function isSummed({ day, version }: TableDay, { from, to, starts }: Part, of: Counting): boolean {
  const { filters, groupBy, hitsOnly, interval, asOf } = of;
  const { link = [], kind: _, ...others } = filters;
  const midnight = midnightOf(day);
  return (
    from === Number.NEGATIVE_INFINITY &&
    to === Number.POSITIVE_INFINITY &&
    asOf >= version &&
    link.length <= 1 &&
    Object.keys(others).length === 0 &&
    (hitsOnly ? groupBy.every((field) => tallyOf(field)) : groupBy.length === 0) &&
    (hitsOnly || interval !== "hour") &&
    starts.every((start) => start <= midnight || start >= midnight + DAY_MS || start % QUARTER_MS === 0)
  );
}

/** Undefined for what isn't kept: which tags a link has changes without a click. */
function keyOf(day: TableDay, { from, to, starts }: Part, of: Counting): string | undefined {
  if (isByTag(of)) return undefined;
  const { accountId, filters, kinds, zone, interval, groupBy, asOf, hitsOnly, visitorKinds } = of;
  const chunks = day.heads.map(keyOfChunk);
  const until = asOf >= day.version ? "" : asOf;
  const bounds = [from, to].map(String);
  return JSON.stringify([
    ...[accountId, chunks, bounds, starts, zone.name, filters],
    ...[kinds, interval, groupBy, until, hitsOnly, visitorKinds],
  ]);
}

function isByTag({ filters, groupBy }: Counting): boolean {
  return filters.tag !== undefined || groupBy.includes("tag");
}

function sizeOf({ points, groups }: DayCounts): number {
  return groups.values().reduce((sum, values) => sum + values.size, points.size + 1);
}

export const noTags: TagsOf = () => [];

/** Of the links that have rows. */
export async function presentTags(
  readStore: Pick<ReadStore, "getMany">,
  tables: readonly Pick<ChunkRows, "chunk">[],
  slices: TimeSlices,
): Promise<TagsOf> {
  const keys = [...new Set(tables.flatMap(({ chunk }) => chunk.columns.link.values))];
  const tags = new Map<string, readonly string[]>();
  for (let n = 0; n < keys.length; n += LINKS_AT_A_TIME) {
    const part = keys.slice(n, n + LINKS_AT_A_TIME);
    const read = await readStore.getMany<LinkDocument>(links.collection.name, part, ["tags"]);
    for (const link of read) if (link.tags) tags.set(link._id, link.tags);
    await slices.next();
  }
  return (link) => tags.get(link) ?? [];
}
