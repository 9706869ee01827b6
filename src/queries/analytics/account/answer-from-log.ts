// Answers a question about an account's clicks by one pass over the log, within bounds of clicks and of time.
import { type ClickHourDocument, clickHours, hourOf } from "../../../projections/definitions/click-hours.ts";
import { Refused } from "../../../runtime/refused.ts";
import { type TimeSlices, timeSlices } from "../../../runtime/threads/time-slices.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import { documentPages } from "../../../stores/read-store/document-pages.ts";
import { VALUES } from "./group-values.ts";
import { type AccountHit, type HitDeps, hitsInLog } from "./hits-in-log.ts";
import type { AccountAnswer } from "./question.ts";
import type { Resolved } from "./resolve-question.ts";
import { groupSum, isPeople, noHits, seriesOf, totalsOf, visitorDays, visitorsOf } from "./sums.ts";

export type Numbers = Pick<AccountAnswer, "totals" | "previous" | "series" | "groups">;

/** Clicks of all accounts that are read for one answer: some 10 to 20 µs each. */
export const MOST_READ = 2_000_000;
const MOST_MS = 30_000;
/** Values of all groups together, which are in memory until the answer is there. */
const MOST_ROWS = 300_000;
const HOURS_AT_A_TIME = 1_000;
const CLOCK_MARGIN_MS = 3_600_000;

/** @throws range_too_large, EventNewer, what the stores throw */
export async function answerFromLog(
  deps: HitDeps,
  question: Resolved,
  { position, rules }: { position: Position; rules: string | undefined },
  signal?: AbortSignal,
): Promise<Numbers> {
  const slices = timeSlices(signal);
  const countRead = budget();
  const { accountId, filters, kinds, zone, starts, interval, groupBy, limit } = question;
  const [start, end] = [question.previous?.from ?? question.from, question.hitsUntil];
  const current = { counts: noHits(), visitors: visitorDays() };
  const before = { counts: noHits(), visitors: visitorDays() };
  const series = seriesOf(starts, interval);
  const groups = groupBy.map((field) => ({ field, valuesOf: VALUES[field], sum: groupSum() }));
  const count = (hit: AccountHit) => {
    const { click, instant } = hit;
    const period = instant < question.from ? before : current;
    const { accountVisitor: code = "" } = isPeople(click.kind) ? click : {};
    period.counts[click.kind] += 1;
    if (isPeople(click.kind)) period.visitors.count(click.at.slice(0, 10), click.kind, code);
    if (period === before) return;
    series.count(instant, click.kind, 1);
    if (code) series.countVisitor(instant, code);
    for (const { valuesOf, sum } of groups)
      for (const value of valuesOf(hit)) {
        sum.count(value, click.kind, 1);
        if (code) sum.countVisitor(value, code);
      }
  };
  const needsTags = groupBy.includes("tag");
  const search = { accountId, filters, kinds, from: start, to: end, zone, upTo: position, rules, needsTags };
  for await (const hits of hitsInLog(deps, search, () => countRead(slices), slices)) {
    for (const hit of hits) count(hit);
    if (groups.reduce((rows, { sum }) => rows + sum.size, 0) > MOST_ROWS) throw tooLarge();
  }
  return {
    totals: totalsOf(current.counts, visitorsOf(current.visitors)),
    previous: question.previous && {
      ...question.previous,
      totals: totalsOf(before.counts, visitorsOf(before.visitors)),
    },
    series: series.result(current.visitors, true),
    groups: Object.fromEntries(groups.map(({ field, sum }) => [field, sum.result(limit, true)])),
  };
}

/** By the hours of recording: clicks of all accounts since a time, in milliseconds; counted no further than MOST_READ. */
export async function clicksSince({ readStore }: HitDeps, from: number): Promise<number> {
  const first = hourOf(new Date(Math.max(0, from - CLOCK_MARGIN_MS)).toISOString());
  const query = { range: { field: "hour", from: first }, sort: SORTED, limit: HOURS_AT_A_TIME };
  let clicks = 0;
  for await (const page of documentPages<ClickHourDocument>(readStore, clickHours.collection.name, query)) {
    clicks += page.reduce((sum, hour) => sum + hour.clicks, 0);
    if (clicks > MOST_READ) break;
  }
  return clicks;
}

const SORTED = { field: "hour", direction: "desc" } as const;

/** To be called with each click that is read, and the slices of the reader: others' time is no part of theirs. It throws range_too_large. */
export function budget(): (slices: TimeSlices) => void {
  let read = 0;
  return (slices) => {
    read += 1;
    if (read > MOST_READ || (read % 1_000 === 0 && slices.workedMs() > MOST_MS)) throw tooLarge();
  };
}

export function tooLarge(): Refused {
  return new Refused("range_too_large");
}
