// What a question leaves open: its range, the points of it, and the period before.
import { type AccountDayDocument, accountDays } from "../../../projections/definitions/days/account-day.ts";
import { dateOf, dayOf } from "../../../projections/definitions/days/days.ts";
import { utcDate } from "../../../runtime/moment.ts";
import { Refused } from "../../../runtime/refused.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { type Interval, pointsOf, startOfDay } from "../intervals.ts";
import { midnightOf } from "../sums.ts";
import { instantOf, type TimeZone, timeZone } from "../time-zone.ts";
import { localTime } from "./group-values.ts";
import type { AccountQuestion } from "./question.ts";

/** `hitsUntil`: as `to`, but without end where none was asked for, as clocks of writers differ. */
export type Resolved = Pick<AccountQuestion, "accountId" | "groupBy" | "filters" | "kinds" | "limit"> & {
  from: number;
  to: number;
  now: number;
  hitsUntil: number;
  zone: TimeZone;
  interval: Interval;
  starts: number[];
  previous: { from: number; to: number } | undefined;
};

/** @throws invalid_range, what the store throws */
export async function resolveQuestion(
  { readStore }: { readStore: Pick<ReadStore, "find"> },
  question: AccountQuestion,
): Promise<Resolved> {
  const { accountId, groupBy, filters, kinds, limit, now } = question;
  const zone = timeZone(question.zone);
  if (!zone) throw new Refused("invalid_range", `There is no time zone "${question.zone}"`);
  const to = question.to ?? now;
  const from = question.from ?? (await firstDay({ readStore }, accountId, zone, to));
  const { interval, starts } = pointsOf({ zone, interval: question.interval }, { from, to });
  return {
    accountId,
    groupBy,
    filters,
    kinds,
    limit,
    from,
    to,
    now,
    zone,
    interval,
    starts,
    hitsUntil: question.to ?? Number.POSITIVE_INFINITY,
    previous: question.compare && previousOf(zone, from, to),
  };
}

/** Just as long before by the clocks of the zone, so that days stay days across a change of them. */
function previousOf(zone: TimeZone, from: number, to: number): { from: number; to: number } {
  const local = localTime(zone, from);
  return { from: instantOf(zone, local - (localTime(zone, to) - local), "start"), to: from };
}

/** Where a range without a beginning has its first hits; its last day when it has none. */
async function firstDay(
  { readStore }: { readStore: Pick<ReadStore, "find"> },
  accountId: string,
  zone: TimeZone,
  to: number,
): Promise<number> {
  const range = {
    field: "_id",
    from: dayOf(accountId, ""),
    to: `${dayOf(accountId, utcDate(new Date(to)))}~`,
  };
  const [first] = await readStore.find<AccountDayDocument>(accountDays.collection.name, { range, limit: 1 });
  return startOfDay(zone, first ? midnightOf(dateOf(first)) : to - 1);
}
