// Answers a question about all clicks of an account, or of one link, from their days: whole ones as documents have them, those
// that the range cuts from the log, by the same fold.
import { LRUCache } from "lru-cache";
import { CLICK_KINDS, UTM_FIELDS } from "../../../events/vocabulary.ts";
import { DIMENSIONS, type Dimension } from "../../../projections/definitions/click-dimensions.ts";
import {
  type AccountDayCounts,
  type AccountDayDocument,
  accountDays,
  countAccountHit,
  noAccountHits,
} from "../../../projections/definitions/days/account-day.ts";
import { dateOf, dayOf } from "../../../projections/definitions/days/days.ts";
import {
  emptyDay,
  type KindOfDay,
  type LinkDayDocument,
  linkDays,
  withClick,
} from "../../../projections/definitions/days/link-day.ts";
import type { LinkHits } from "../../../projections/definitions/days/link-hits.ts";
import { type LinkClicksDocument, linkClicks } from "../../../projections/definitions/link-clicks.ts";
import { partsOfRuleHit } from "../../../projections/definitions/rule-hits.ts";
import { OTHER, type Tally, valueCounts } from "../../../projections/definitions/tally.ts";
import { utcDate } from "../../../runtime/moment.ts";
import { timeSlices } from "../../../runtime/threads/time-slices.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import { documentPages } from "../../../stores/read-store/document-pages.ts";
import { midnightOf } from "../sums.ts";
import { DAY_MS, QUARTER_MS } from "../time-zone.ts";
import { budget, type Numbers } from "./answer-from-log.ts";
import type { FairQueue } from "./fair-queue.ts";
import { hostOf, localDay, localHour, localTime, localWeekday } from "./group-values.ts";
import { type HitDeps, hitsInLog, linkTags, noTags } from "./hits-in-log.ts";
import type { GroupBy } from "./question.ts";
import type { Resolved } from "./resolve-question.ts";
import { groupSum, noHits, seriesOf, totalsOf, visitorDays, visitorsOf } from "./sums.ts";

/** `links`: of an account's day. */
type Counts = Pick<LinkDayDocument, "quarters" | "kinds"> & Partial<Pick<AccountDayDocument, "links">>;
type Day = AccountDayDocument | LinkDayDocument;
type Period = { from: number; to: number };
/** As of which the log is. */
type AsOf = { position: Position; rules: string | undefined };
/** What all reads of the log for one question share. */
type Asked = { countRead: ReturnType<typeof budget>; signal: AbortSignal | undefined };

/** As JSON, a day whose tallies are full takes some 150 KB, and two milliseconds to read. */
const DAYS_AT_A_TIME = 4;
const KEPT_BYTES = 8 * 1024 * 1024;

const DIMENSION: { readonly [G in GroupBy]?: Dimension } = {
  device: "devices",
  country: "countries",
  city: "cities",
  browser: "browsers",
  os: "os",
  referrer: "referrers",
};

/** The tally of a field; undefined for a field that has none. */
function tallyOf(field: GroupBy): ((counted: KindOfDay) => Tally | undefined) | undefined {
  const dimension = DIMENSION[field];
  if (dimension) return ({ tallies }) => tallies[DIMENSIONS.indexOf(dimension)];
  const utm = UTM_FIELDS.find((name) => field === `utm_${name}`);
  if (utm) return (counted) => counted.utm?.[utm];
  if (field === "rule") return ({ rules = [] }) => ofRules(rules);
  if (field === "region") return ({ regions }) => regions;
  return field === "language" ? ({ languages }) => languages : undefined;
}

function ofRules(rules: Tally): Tally {
  return valueCounts(rules).flatMap(([value, hits]) => [partsOfRuleHit(value).rule, hits]);
}

/** Of a quarter-hour, by its local time. */
const LOCAL: { readonly [G in GroupBy]?: (local: number) => string } = {
  hour: localHour,
  day: localDay,
  weekday: localWeekday,
};

/** Whether the documents have what is asked for. */
export function isInDocuments({ filters }: Resolved): boolean {
  const { link = [], kind: _, ...others } = filters;
  return Object.keys(others).length === 0 && link.length <= 1;
}

/** One for all that ask, as it keeps what it has read of the log. @throws range_too_large, EventNewer, what the stores throw */
export function documentAnswers(deps: HitDeps, inLine: FairQueue) {
  /** JSON, as its size is known. */
  const kept = new LRUCache<string, string>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (json, key) => 2 * (json.length + key.length),
  });

  async function cutDay(day: Day, part: Period, question: Resolved, asOf: AsOf, asked: Asked) {
    const [end = ""] = [day.last, asOf.position].sort();
    const key = JSON.stringify([day._id, part, day.first, end, day._position, asOf.rules]);
    const known = kept.get(key);
    if (known !== undefined) return JSON.parse(known) as Counts;
    const { accountId, filters, zone } = question;
    const of = { accountId, filters: filters.link ? { link: filters.link } : {}, kinds: CLICK_KINDS, zone };
    const search = { ...of, ...part, start: { from: day.first }, end };
    const counted: Counts = filters.link ? emptyDay() : noAccountHits();
    const { countRead, signal } = asked;
    const count = async () => {
      const slices = timeSlices(signal);
      const wanted = { ...search, upTo: asOf.position, rules: asOf.rules };
      for await (const hits of hitsInLog(deps, wanted, () => countRead(slices), slices))
        for (const { event } of hits) {
          if (filters.link) withClick(counted as LinkDayDocument, event);
          else countAccountHit(counted as AccountDayCounts, event.data);
        }
    };
    await inLine(accountId, count, signal);
    kept.set(key, JSON.stringify(counted));
    return counted;
  }

  return async (question: Resolved, asOf: AsOf, signal?: AbortSignal): Promise<Numbers> => {
    const { from, hitsUntil: to, previous } = question;
    const current = sumOf(question);
    const before = sumOf({ ...question, groupBy: [] });
    const slices = timeSlices(signal);
    const asked = { countRead: budget(), signal };
    const tagsOf = question.groupBy.includes("tag") ? linkTags(deps) : noTags;
    const add = async (sum: ReturnType<typeof sumOf>, day: Day, counts: Counts) => {
      const links = linksOf(counts, question);
      sum.add(dateOf(day), { ...counts, links }, await tagsOf(links.map(([link]) => link)));
    };
    for await (const day of daysOf(deps, question)) {
      await slices.next();
      for (const [period, sum] of [
        [{ from, to }, current],
        [previous, before],
      ] as const) {
        const part = period && partOf(day, period, question.now);
        if (part === "all") await add(sum, day, day);
        else if (part) await add(sum, day, await cutDay(day, part, question, asOf, asked));
      }
    }
    return {
      ...current.result(),
      previous: previous && { ...previous, totals: before.result().totals },
    };
  };
}

/** In the order of their dates, and a time. */
async function* daysOf({ readStore }: HitDeps, { accountId, filters, previous, from, to }: Resolved) {
  const [link] = filters.link ?? [];
  // The days of a link don't say whose it is.
  if (link !== undefined && !(await isOwn({ readStore }, accountId, link))) return;
  const id = (instant: number) => dayOf(link ?? accountId, utcDate(new Date(instant)));
  // A writer whose clock is ahead may have recorded clicks of tomorrow.
  const range = { field: "_id", from: id(previous?.from ?? from), to: `${id(to + DAY_MS)}~` };
  const collection = (link === undefined ? accountDays : linkDays).collection.name;
  const query = { range, limit: DAYS_AT_A_TIME };
  for await (const page of documentPages<Day>(readStore, collection, query)) yield* page;
}

async function isOwn({ readStore }: Pick<HitDeps, "readStore">, accountId: string, link: string) {
  const fields = ["accountId"];
  const [clicks] = await readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, [link], fields);
  return clicks?.accountId === accountId;
}

/** What of a day with hits is in the period; undefined for nothing. */
function partOf(day: Day, { from, to }: Period, now: number): "all" | Period | undefined {
  const midnight = midnightOf(dateOf(day));
  const starts = day.quarters.map(([quarter]) => midnight + quarter * QUARTER_MS);
  const isWhole = (start: number) => start >= from && (start + QUARTER_MS <= to || (start < to && to >= now));
  if (starts.length > 0 && starts.every(isWhole)) return "all";
  const isIn = starts.some((start) => start + QUARTER_MS > from && start < to);
  return isIn ? { from: Math.max(from, midnight), to: Math.min(to, midnight + DAY_MS) } : undefined;
}

function sumOf({ kinds, filters, groupBy, starts, interval, zone, limit }: Resolved) {
  const wanted = kinds.filter((kind) => filters.kind?.includes(kind) ?? true);
  const counts = noHits();
  const visitors = visitorDays();
  const series = seriesOf(starts, interval);
  const groups = groupBy.map((field) => ({
    field,
    tally: tallyOf(field),
    local: LOCAL[field],
    sum: groupSum(),
  }));
  return {
    /** Each day comes once. */
    add(
      date: string,
      day: Counts & { links: LinkHits[] },
      tagsOf: (link: string) => readonly string[],
    ): void {
      const midnight = midnightOf(date);
      for (const kind of wanted) {
        const column = CLICK_KINDS.indexOf(kind);
        for (const [quarter, ...hits] of day.quarters) {
          const [instant, hit] = [midnight + quarter * QUARTER_MS, hits[column] ?? 0];
          if (hit === 0) continue;
          counts[kind] += hit;
          series.count(instant, kind, hit);
          for (const { local, sum } of groups)
            if (local) sum.count(local(localTime(zone, instant)), kind, hit);
        }
        const counted = day.kinds[kind];
        if (!counted) continue;
        visitors.add(date, kind, counted.visitors, hitsOf(day, column));
        for (const { field, tally, sum } of groups) {
          for (const [value, hits] of valueCounts(tally?.(counted) ?? [])) sum.count(value, kind, hits);
          if (field === "kind") sum.count(kind, kind, hitsOf(day, column));
        }
        for (const { field, sum } of groups)
          for (const [link, ...hits] of LINK_FIELDS.includes(field) ? day.links : [])
            for (const value of linkValues(field, link, tagsOf)) sum.count(value, kind, hits[column] ?? 0);
      }
    },
    result: () => ({
      totals: totalsOf(counts, visitorsOf(visitors)),
      series: series.result(visitors, false),
      groups: Object.fromEntries(groups.map(({ field, sum }) => [field, sum.result(limit, false)])),
    }),
  };
}

function hitsOf({ quarters }: Counts, column: number): number {
  return quarters.reduce((sum, [, ...hits]) => sum + (hits[column] ?? 0), 0);
}

const LINK_FIELDS: readonly GroupBy[] = ["link", "domain", "tag"];

/** What the hits of a link count as; those of links that a day has added up have no known tag. */
function linkValues(field: GroupBy, link: string, tagsOf: (link: string) => readonly string[]) {
  if (field === "tag") return tagsOf(link);
  return [field === "link" || link === OTHER ? link : hostOf(link)];
}

function linksOf(day: Counts, { filters: { link: [link] = [] } }: Resolved): LinkHits[] {
  if (link === undefined) return day.links ?? [];
  const [click = 0, preview = 0, qrScan = 0] = CLICK_KINDS.map((_, column) => hitsOf(day, column));
  return [[link, click, preview, qrScan]];
}
