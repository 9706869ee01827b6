// Counts the UTC days of a question one after the other: whole closed ones from what was summed when they were closed, where that
// has what is asked, the others from their tables. What was counted of a day is kept, as pages ask the same again.

import { LRUCache } from "lru-cache";
import { Refused } from "../../../commands/refusals.ts";
import { eventOf } from "../../../projections/definitions/click-tables/positions.ts";
import {
  type AccountDayDocument,
  accountDays,
  VALUE_MEMBERS,
  type ValueCounts,
} from "../../../projections/definitions/summaries/account-day.ts";
import { dayOf } from "../../../projections/definitions/summaries/day.ts";
import { DayBeingClosed, linkDayOf } from "../../../projections/fold/clicks/stored-days.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import type { Period } from "../question.ts";
import { DAY_MS } from "../time-zone.ts";
import { type Counting, countRows, type DayCounts, type DayQuestion, placeOf } from "./count-rows.ts";
import { countAccountDay, countLinkDay } from "./count-summary.ts";
import { comparable } from "./group-values.ts";
import { hasTags, type LinkTags, linkTags, noTags } from "./link-tags.ts";
import { type DaysSum, midnightOf } from "./sum-days.ts";
import {
  ChunkReplaced,
  keyOf as keyOfChunk,
  rowsIn,
  type TableDay,
  type TableReader,
} from "./table-reader.ts";

type Deps = { reader: TableReader; readStore: Pick<ReadStore, "countElements" | "get" | "getMany"> };

/** Without its values, of which there are thousands. */
const BUT_VALUES = [
  "accountId",
  "day",
  "quietPages",
  "quarters",
  "visitors",
  "hours",
] as const satisfies (keyof AccountDayDocument)[];
/** Values of groups and points that are kept, of some 50 bytes each. */
const KEPT_VALUES = 300_000;
/** Rows of the account that are counted for one question: some 0.5 µs each, at first. */
export const MOST_READ = 10_000_000;
/** Values of all groups together, which are in memory until the answer is there. */
const MOST_VALUES = 300_000;

/** One for all that ask. */
export function dayCounter({ reader, readStore }: Deps) {
  const kept = new LRUCache<string, DayCounts>({ maxSize: KEPT_VALUES, sizeCalculation: sizeOf });

  /** Without groups that the summary hasn't; undefined where it is not that of the table, or hasn't the totals or points. */
  async function fromSummary(day: TableDay, of: DayQuestion): Promise<DayCounts | undefined> {
    const { link = [], kind: _, ...others } = of.filters;
    if (of.asOf < day.version || link.length > 1 || Object.keys(others).length > 0) return undefined;
    const ofAccount = dayOf(of.accountId, day.day);
    // Written last, so that those of the links are there.
    const [account] = await readStore.getMany<AccountDayDocument>(
      accountDays.name,
      [ofAccount],
      link.length > 0 || of.groupBy.length === 0 ? BUT_VALUES : undefined,
    );
    if (!account || eventOf(account._position) !== day.version) return undefined;
    const [key] = link;
    if (key === undefined) return countAccountDay(account, of);
    try {
      return countLinkDay(day.day, await linkDayOf(readStore, account, key), of);
    } catch (error) {
      if (error instanceof DayBeingClosed) return undefined;
      throw error;
    }
  }

  /**
   * `mostRead`: rows, without a bound where nobody could ask for less.
   * @throws range_too_large, ChunkReplaced, the reason of the slices' signal, what the store throws
   */
  return async (
    days: readonly TableDay[],
    period: Period,
    counting: Counting,
    sum: Pick<DaysSum, "add" | "addValues" | "size">,
    slices: TimeSlices,
    mostRead = Number.POSITIVE_INFINITY,
  ): Promise<void> => {
    const wanted = counting.filters.kind?.map((kind) => comparable("kind", kind));
    const kinds = counting.kinds.filter((kind) => wanted?.includes(kind) ?? true);
    const tags = linkTags(readStore);
    let isTagged: boolean | undefined;
    let read = 0;

    async function fromTables(day: TableDay, of: DayQuestion): Promise<DayCounts> {
      read += rowsIn(day);
      if (read > mostRead) throw new Refused("range_too_large");
      const tables = await Array.fromAsync(reader.tables(day.heads, of.asOf, slices));
      const tagsOf = isByTag(of) ? await tags.ofLinksIn(tables, slices) : noTags;
      return await countRows(day.day, tables, of, tagsOf, slices);
    }

    async function countsOf(day: TableDay, of: DayQuestion): Promise<DayCounts> {
      const counts = await fromSummary(day, of);
      if (counts && (await reader.queried()) !== day.heads[0]?.build)
        throw new ChunkReplaced("Another build has taken over");
      const missing = of.groupBy.filter((field) => !counts?.groups.has(field));
      if (counts && missing.length === 0) return counts;
      const read = await fromTables(day, { ...of, groupBy: missing });
      return counts ? { ...counts, groups: new Map([...counts.groups, ...read.groups]) } : read;
    }

    /** Kept, but for tags: which of them a link has changes without a click. */
    async function lasting(day: TableDay, of: DayQuestion): Promise<DayCounts> {
      if (of.filters.tag !== undefined) return await countsOf(day, of);
      const key = keyOf(day, of);
      const counts = kept.get(key) ?? (await countsOf(day, of));
      kept.set(key, counts);
      return counts;
    }

    async function tagsOfDay(day: TableDay, of: DayQuestion, counts: DayCounts): Promise<ValueCounts> {
      const { link } = of.filters;
      if (link?.length === 1) return await tagsOfLink(tags, link[0] as string, counts);
      isTagged ??= await hasTags(readStore, of.accountId);
      if (!isTagged) return [];
      return (await fromTables(day, { ...of, groupBy: ["tag"], starts: [] })).groups.get("tag") ?? [];
    }

    for (const day of days) {
      await slices.next();
      const bounds = boundsIn(day, period);
      if (!bounds) continue;
      const midnight = midnightOf(day.day);
      const first = placeOf(counting.starts, midnight);
      const starts = counting.starts.slice(first, placeOf(counting.starts, midnight + DAY_MS) + 1);
      const groupBy = counting.groupBy.filter((field) => field !== "tag");
      const of = { ...counting, ...bounds, kinds, starts, groupBy };
      const counts = await lasting(day, of);
      sum.add(counts, first);
      if (groupBy.length < counting.groupBy.length) sum.addValues("tag", await tagsOfDay(day, of, counts));
      if (sum.size > MOST_VALUES) throw new Refused("range_too_large");
    }
  };
}

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

function keyOf(day: TableDay, of: DayQuestion): string {
  const { accountId, from, to, starts, filters, kinds, zone, groupBy, limit, asOf } = of;
  const chunks = day.heads.map(keyOfChunk);
  const until = asOf >= day.version ? "" : asOf;
  const bounds = [from, to].map(String);
  return JSON.stringify([
    ...[accountId, chunks, bounds, starts, zone.name, filters],
    ...[kinds, groupBy, limit, until, of.hitsOnly, of.visitorKinds],
  ]);
}

function isByTag({ filters, groupBy }: Pick<Counting, "filters" | "groupBy">): boolean {
  return filters.tag !== undefined || groupBy.includes("tag");
}

function sizeOf({ points, groups }: DayCounts): number {
  return groups.values().reduce((sum, { length }) => sum + length / VALUE_MEMBERS, points.size + 1);
}

/** All that is counted is of the link. */
async function tagsOfLink(tags: LinkTags, link: string, { total }: DayCounts): Promise<ValueCounts> {
  const { click, preview, qr_scan, visitors } = total;
  if (click + preview + qr_scan === 0) return [];
  return (await tags.ofLink(link)).flatMap((tag) => [tag, click, preview, qr_scan, visitors]);
}
