// Answers questions about the clicks of an account, or of some of its links, in the reader thread: the one engine of all numbers.
import { CLICK_KINDS, type ClickKind, PEOPLE_KINDS } from "../../events/vocabulary.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { type ClosedDay, closedDays, linkDayOf } from "../../projections/fold/clicks/stored-days.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { utcDate } from "../../runtime/moment.ts";
import { type SliceWork, type TimeSlices, timeSlices } from "../../runtime/threads/time-slices.ts";
import { msBehind, nextEventFinder } from "../../stores/event-store/next-event.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import { documentsById } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { dayCounter, MOST_READ } from "./counting/count-days.ts";
import type { CountedBy, Counting } from "./counting/count-rows.ts";
import { countLife } from "./counting/count-summary.ts";
import { noTags } from "./counting/link-tags.ts";
import { selectRows } from "./counting/select-rows.ts";
import { type DaysSum, type DayVisitors, sumOfDays } from "./counting/sum-days.ts";
import { type TableReader, tableReader, withPresentChunks } from "./counting/table-reader.ts";
import { type FairQueue, fairQueue } from "./fair-queue.ts";
import { gapsBetween } from "./gaps.ts";
import { openLife } from "./open-life.ts";
import type { AccountAnswer, AccountQuestion, ClickListQuestion, Group, Period } from "./question.ts";
import { latestClicks, type RecentClick, recentClicks } from "./recent-clicks.ts";
import { resolveQuestion } from "./resolve-question.ts";
import { dateOf, HOUR_MS, UTC, zoneNamed } from "./time-zone.ts";

/** `mostRead`: rows that are counted for a question, fewer in tests. `slices`: of all work of the thread. */
type Deps = {
  readStore: Pick<ReadStore, "checkpoint" | "countElements" | "find" | "get" | "getMany">;
  eventStore: Pick<EventStore, "head" | "readAll">;
  reader?: TableReader;
  mostRead?: number;
  slices?: SliceWork;
};

/**
 * Groups may be of rules with their destinations. `hitsOnly`, `visitorKinds`: as of Counting, by default people's. `begins`: where a range without `from` begins at the
 * latest. `end`: where one without `to` ends, by default now.
 */
type ClickQuestion = Omit<AccountQuestion, "groupBy"> & {
  groupBy: readonly CountedBy[];
  hitsOnly?: boolean;
  visitorKinds?: readonly ClickKind[];
  begins?: number;
  end?: number;
};

type Groups = { [F in CountedBy]?: Group };

/** `days`: those with visitors. */
type ClickAnswer = Omit<AccountAnswer, "groups"> & {
  groups: Groups;
  days: DayVisitors[];
};

/** It ends, with the reason of the signal, when nobody waits for the answer any more. */
type AskAccount = (question: AccountQuestion, signal?: AbortSignal) => Promise<AccountAnswer>;

/** One for all that ask, as it keeps what it has read. Answers throw invalid_range, range_too_large and what the stores throw. */
export function clickQuestions({
  readStore,
  eventStore,
  reader = tableReader({ readStore }),
  mostRead = MOST_READ,
  slices: sliced = timeSlices,
}: Deps) {
  const next = nextEventFinder(eventStore, clickGroup.categories);
  const countDays = dayCounter({ reader, readStore });

  async function answered(question: ClickQuestion, slices: TimeSlices): Promise<ClickAnswer> {
    const { accountId, filters, kinds, groupBy, limit, now, end = now } = question;
    const { hitsOnly = false, visitorKinds = PEOPLE_KINDS } = question;
    // First, as documents may be ahead of it, never behind.
    const present = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
    const position = question.asOf ?? present;
    const resolved = await resolveQuestion(question, end, async () => {
      const first = await firstHit(question, position, slices);
      if (question.begins !== undefined) return Math.min(first ?? question.begins, question.begins);
      return first !== undefined && first < (question.to ?? end) ? first : undefined;
    });
    const { from, to, hitsUntil, zone, interval, starts, previous } = resolved;
    const of = { accountId, filters, kinds, visitorKinds, zone, limit, asOf: position, hitsOnly };
    const counted = async (period: Period, counting: Pick<Counting, "starts" | "groupBy">) => {
      const [first, last] = [period.from, period.to].map(dateOf);
      const sum = sumOfDays({ ...counting, visitorKinds });
      const days = await reader.days(accountId, first, last);
      await countDays(days, period, { ...of, ...counting }, sum, slices, mostRead);
      return sum;
    };
    const sum = await counted({ from, to: hitsUntil }, { starts, groupBy });
    const before = previous && (await counted(previous, { starts: previous.starts, groupBy: [] }));
    return {
      ...{ from, to, interval },
      gaps: await gapsBetween(readStore, from, to),
      totals: sum.totals(),
      previous: previous &&
        before && { from: previous.from, to: previous.to, totals: before.totals(), series: before.series() },
      series: sum.series(),
      groups: groupsOf(sum, groupBy, limit),
      days: sum.days(),
      ...(await placeInLog(position, now, question.asOf === undefined)),
    };
  }

  /** Of what is counted up to a position: up to the end of the log where nothing else is to be counted. */
  async function placeInLog(
    counted: Position,
    now: number,
    isPresent: boolean,
  ): Promise<Pick<ClickAnswer, "position" | "behindMs">> {
    const head = isPresent ? await eventStore.head() : counted;
    const event = await next(counted);
    const position = event || head < counted ? counted : head;
    return { position, behindMs: msBehind(event, new Date(now)) };
  }

  /** Of all its hits that count, or of those of one link, as of the position; undefined for none. */
  async function firstHit(
    question: ClickQuestion,
    asOf: Position,
    slices: TimeSlices,
  ): Promise<number | undefined> {
    const { accountId, filters } = question;
    const [link, ...others] = filters.link ?? [];
    if (link === undefined || others.length > 0) {
      const day = await reader.firstDay(accountId);
      return day && Math.min(...day.heads.map(({ firstAt }) => firstAt));
    }
    const { life, open, isCurrent } = await openLife({ readStore, reader }, accountId, link);
    const isPresent = question.asOf === undefined && isCurrent;
    if (isPresent && life && life.firstAt !== "") return Date.parse(life.firstAt);
    const openDays = new Set(open.map(({ day }) => day));
    const closed = new Map<string, ClosedDay>();
    if (!isPresent)
      for await (const day of closedDays(readStore, accountId))
        if (!openDays.has(day.day)) closed.set(day.day, day);
    const filter = { ...ALWAYS, filters: { link: [link] }, asOf };
    for (const { day, heads } of isPresent ? open : await reader.days(accountId)) {
      const ofDay = closed.get(day);
      if (ofDay && !(await linkDayOf(readStore, ofDay, link))) continue;
      let first = Number.POSITIVE_INFINITY;
      for await (const table of reader.tables(heads, asOf, slices))
        for (const row of selectRows(table, filter, noTags)) {
          const at = table.chunk.at[row] as number;
          if (at < first) first = at;
        }
      if (first < Number.POSITIVE_INFINITY) return first;
    }
    return undefined;
  }

  /** Of a link's whole life, with the hits of its last 24 hours; `days` and visitors are not counted. */
  async function lifeOf(
    { accountId, link, groupBy, now }: LifeQuestion,
    slices: TimeSlices,
  ): Promise<LinkLife> {
    const position = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
    const filters = { link: [link] };
    const ofLink = { accountId, filters, kinds: CLICK_KINDS, visitorKinds: [], asOf: position };
    const of = { ...ofLink, zone: UTC, limit: MOST_VALUES, hitsOnly: true };
    const life = await openLife({ readStore, reader }, accountId, link);
    const sum = sumOfDays({ starts: [], groupBy, visitorKinds: [] });
    if (life.life && life.isCurrent) sum.add(countLife(life.life, groupBy), 0);
    const days = life.isCurrent ? life.open : await reader.days(accountId);
    await countDays(days, ALWAYS, { ...of, starts: [], groupBy }, sum, slices);
    const presentHour = now - (now % HOUR_MS);
    const [from, to] = [presentHour - 23 * HOUR_MS, presentHour + HOUR_MS];
    const starts = Array.from({ length: 24 }, (_, n) => from + n * HOUR_MS);
    const hours = sumOfDays({ starts, groupBy: [], visitorKinds: [] });
    const lastDays = await reader.days(accountId, utcDate(new Date(from)), utcDate(new Date(presentHour)));
    await countDays(lastDays, { from, to }, { ...of, starts, groupBy: [] }, hours, slices);
    return {
      ...{ from, to },
      totals: sum.totals(),
      series: hours.series(),
      groups: groupsOf(sum, groupBy, MOST_VALUES),
      recent: await recentClicks({ readStore, eventStore, reader }, link, life, position, slices),
      ...(await placeInLog(position, now, true)),
    };
  }

  async function latestOf({ zone, from, to, ...of }: ClickListQuestion, limit: number, slices: TimeSlices) {
    const asOf = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
    const bounds = { from: from ?? ALWAYS.from, to: to ?? ALWAYS.to, zone: zoneNamed(zone) };
    return await latestClicks({ readStore, eventStore, reader }, { ...of, ...bounds, asOf }, limit, slices);
  }

  return {
    answer: (question: ClickQuestion, signal?: AbortSignal): Promise<ClickAnswer> =>
      withPresentChunks(() => answered(question, sliced(signal))),
    lifeOf: (question: LifeQuestion, signal?: AbortSignal): Promise<LinkLife> =>
      withPresentChunks(() => lifeOf(question, sliced(signal))),
    latestOf: (question: ClickListQuestion, limit: number, signal?: AbortSignal) =>
      withPresentChunks(() => latestOf(question, limit, sliced(signal))),
  };
}

/** `link`: its key; of the account. `now`: milliseconds. */
type LifeQuestion = {
  accountId: string;
  link: string;
  groupBy: readonly CountedBy[];
  now: number;
};

/** `from`, `to`: of the series, by hours; `recent`: latest first. */
export type LinkLife = Pick<
  ClickAnswer,
  "from" | "to" | "totals" | "series" | "groups" | "position" | "behindMs"
> & {
  recent: RecentClick[];
};

/** Of a breakdown; the hits of the others are told together. */
export const MOST_VALUES = 200;
const ALWAYS = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  kinds: CLICK_KINDS,
  zone: UTC,
};

export type ClickQuestions = ReturnType<typeof clickQuestions>;

/** For pages and the API: questions of an account take their turn. They throw analytics_busy, too. */
export function accountQuestions(
  questions: ClickQuestions,
  readStore: Pick<ReadStore, "getMany">,
  inLine: FairQueue = fairQueue(),
): AskAccount {
  return async (question, signal) => {
    const ask = () => questions.answer(question, signal);
    const { groups, days: _, ...answer } = await inLine(question.accountId, ask, signal);
    const { link } = groups;
    return { ...answer, groups: { ...groups, ...(link && { link: await withTitles(readStore, link) }) } };
  };
}

function groupsOf(sum: DaysSum, fields: readonly CountedBy[], limit: number): Groups {
  return Object.fromEntries(fields.map((field) => [field, sum.group(field, limit)]));
}

async function withTitles(readStore: Pick<ReadStore, "getMany">, { rows, other }: Group): Promise<Group> {
  const keys = rows.map(({ value }) => value);
  const read = await documentsById<LinkDocument>(readStore, links.collection.name, keys, ["title"]);
  return { rows: rows.map((row) => ({ ...row, label: read.get(row.value)?.title ?? undefined })), other };
}
