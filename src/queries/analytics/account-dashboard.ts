// An account's dashboard: hits and top links in a range of time, and usage of its tier's limits.
import { type ClickKind, TIER_LIMITS, type Tier, WEBHOOKS_PER_ACCOUNT } from "../../events/vocabulary.ts";
import {
  type AccountDayDocument,
  accountDays,
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
import { type HitCounts, sumOf } from "./hit-counts.ts";
import { startsOf } from "./ranges/range-analytics.ts";
import type { RangeRequest } from "./ranges/range-request.ts";
import { type SeriesPoint, seriesSum } from "./ranges/range-sum.ts";
import { QUARTER_MS } from "./ranges/time-zone.ts";
import { type QuartersIn, type TopLinks, topLinksIn } from "./top-links-in-range.ts";

type Deps = { readStore: ReadStore };

/** [from, to) in milliseconds; a quarter-hour that it cuts counts as a whole. */
export type AccountRange = Pick<RangeRequest, "zone" | "interval"> & {
  from: number;
  to: number;
  kinds: readonly ClickKind[];
};

/** All but usage: of the range, and of its kinds. */
export type AccountDashboard = {
  series: SeriesPoint[];
  totals: HitCounts;
  top: TopLinks;
  usage: AccountUsage;
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
/** A day with as many links as are counted one by one takes some tenths of a millisecond. */
const DAYS_AT_A_TIME = 20;

/** @throws InvalidRange, what the store throws */
export async function accountDashboard(
  deps: Deps,
  account: { accountId: string; tier: Tier },
  range: AccountRange,
): Promise<AccountDashboard> {
  const { from, to, kinds } = range;
  const quartersIn = quartersOf(from, to);
  const { series, add } = seriesSum(startsOf(range, range), kinds);
  const top = topLinksIn(quartersIn, kinds);
  const query = { range: daysOf(account.accountId, from, to), limit: DAYS_AT_A_TIME };
  const pages = documentPages<AccountDayDocument>(deps.readStore, accountDays.collection.name, query);
  for await (const page of pages)
    for (const day of page) {
      add(dateOf(day), quartersIn(day));
      top.add(day);
    }
  return {
    series,
    totals: sumOf(series),
    top: await top.best(deps, TOP_LINKS),
    usage: await accountUsage(deps, account),
  };
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

/** Ids of the UTC days. */
function daysOf(accountId: string, from: number, to: number) {
  const id = (instant: number) => dayOf(accountId, utcDate(new Date(instant)));
  return { field: "_id", from: id(from), to: `${id(to)}~` };
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
