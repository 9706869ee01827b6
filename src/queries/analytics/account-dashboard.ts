// An account's dashboard: hits and top links in a range of time; and usage of its tier's limits.
import { CLICK_KINDS, TIER_LIMITS, type Tier, WEBHOOKS_PER_ACCOUNT } from "../../events/vocabulary.ts";
import {
  type AccountDayDocument,
  accountDays,
  type DayDocument,
  dateOf,
  dayOf,
} from "../../projections/definitions/days/days.ts";
import { domains } from "../../projections/definitions/domains.ts";
import { keys } from "../../projections/definitions/keys.ts";
import { webhooks } from "../../projections/definitions/webhooks.ts";
import { documentPages } from "../../read-store/document-pages.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { utcDate } from "../../runtime/moment.ts";
import { countLinks } from "../links/account-links.ts";
import { addHits, type HitCounts, hitCounts } from "./hit-counts.ts";
import { type Interval, startOfDay } from "./ranges/buckets.ts";
import { intervalOf, startsOf } from "./ranges/range-analytics.ts";
import type { RangeRequest } from "./ranges/range-request.ts";
import { type SeriesPoint, seriesSum } from "./ranges/range-sum.ts";
import { QUARTER_MS, type TimeZone } from "./ranges/time-zone.ts";
import { type QuartersIn, type TopLinks, topLinksIn } from "./top-links-in-range.ts";

type Deps = { readStore: ReadStore };

/** A quarter-hour that the range cuts counts as a whole. */
export type AccountRange = Pick<RangeRequest, "from" | "to" | "zone" | "interval" | "kinds">;

/** Of the range, and of its kinds; `totals`: of all kinds. */
export type AccountDashboard = {
  interval: Interval;
  series: SeriesPoint[];
  totals: HitCounts;
  top: TopLinks;
};

export type AccountUsage = {
  links: number;
  deletedLinks: number;
  keys: { used: number; limit: number };
  domains: number;
  webhooks: { used: number; limit: number };
  requestsPerHour: number;
};

const TOP_LINKS = 10;
/** A day with as many links as are counted one by one takes a millisecond, which redirects wait for. */
const DAYS_AT_A_TIME = 5;

/** @throws invalid_range, what the store throws */
export async function accountDashboard(
  deps: Deps,
  accountId: string,
  range: AccountRange,
  now: Date,
): Promise<AccountDashboard> {
  const until = range.to ?? now.getTime();
  const from = range.from ?? (await firstDay(deps, accountId, range.zone, until));
  const bounds = { from, to: until };
  const quartersIn = quartersOf(from, range.to ?? Number.POSITIVE_INFINITY);
  const { series, add } = seriesSum(startsOf(range, bounds), range.kinds);
  const totals = hitCounts();
  const top = topLinksIn(quartersIn, range.kinds);
  const query = { range: daysOf(accountId, from, until), limit: DAYS_AT_A_TIME };
  const pages = documentPages<AccountDayDocument>(deps.readStore, accountDays.collection.name, query);
  for await (const page of pages)
    for (const day of page) {
      const quarters = quartersIn(day);
      add(dateOf(day), quarters);
      for (const quarter of quarters) addHits(totals, quarter, CLICK_KINDS);
      top.add(day);
    }
  return { interval: intervalOf(range, bounds), series, totals, top: await top.best(deps, TOP_LINKS) };
}

/** Where a range without a beginning has its first hits; its last day when it has none. */
async function firstDay({ readStore }: Deps, accountId: string, zone: TimeZone, until: number) {
  const query = { range: daysOf(accountId, undefined, until), limit: 1 };
  const [first] = await readStore.find<DayDocument>(accountDays.collection.name, query);
  return startOfDay(zone, first ? Date.parse(`${dateOf(first)}T00:00:00.000Z`) : until - 1);
}

/** Ids of the UTC days. */
function daysOf(accountId: string, from: number | undefined, to: number) {
  const id = (instant: number) => dayOf(accountId, utcDate(new Date(instant)));
  return { field: "_id", from: from === undefined ? dayOf(accountId, "") : id(from), to: `${id(to)}~` };
}

function quartersOf(from: number, to: number): QuartersIn {
  return (day) => {
    const midnight = Date.parse(`${dateOf(day)}T00:00:00.000Z`);
    return day.quarters.filter(([quarter]) => {
      const start = midnight + quarter * QUARTER_MS;
      return start + QUARTER_MS > from && start < to;
    });
  };
}

export async function accountUsage(
  { readStore }: Deps,
  { accountId, tier }: { accountId: string; tier: Tier },
): Promise<AccountUsage> {
  const made = await countLinks({ readStore }, accountId);
  const count = (collection: string, where: Record<string, string>) =>
    readStore.count(collection, { where: { accountId, ...where } });
  const { activeKeys, requestsPerHour, developerFeatures } = TIER_LIMITS[tier];
  const running = await count(webhooks.collection.name, { status: "active" });
  const paused = await count(webhooks.collection.name, { status: "paused" });
  return {
    links: made.links,
    deletedLinks: made.deleted,
    keys: { used: await count(keys.collection.name, { status: "active" }), limit: activeKeys },
    domains: await count(domains.collection.name, { state: "verified" }),
    webhooks: { used: running + paused, limit: developerFeatures ? WEBHOOKS_PER_ACCOUNT : 0 },
    requestsPerHour,
  };
}
