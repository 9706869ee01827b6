// An account's dashboard: clicks over time, all-time totals, top links, and usage of its tier's limits.
import { TIER_LIMITS, type Tier, WEBHOOKS_PER_ACCOUNT } from "../../events/vocabulary.ts";
import { type AccountTotalsDocument, accountTotals } from "../../projections/definitions/account-totals.ts";
import { accountDays, type DayDocument, dayOf } from "../../projections/definitions/days/days.ts";
import { domains } from "../../projections/definitions/domains.ts";
import { keys } from "../../projections/definitions/keys.ts";
import { webhooks } from "../../projections/definitions/webhooks.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { countLinks, type ListedLink, topLinks } from "../links/account-links.ts";
import { type HitCounts, hitCounts } from "./hit-counts.ts";
import { daysIn, type Range, type TimeSeries, timeSeries } from "./time-series.ts";

type Deps = { readStore: ReadStore };

export type AccountDashboard = {
  series: TimeSeries;
  /** Since the account was opened. */
  totals: HitCounts;
  top: ListedLink[];
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

export async function accountDashboard(
  deps: Deps,
  account: { accountId: string; tier: Tier },
  range: Range,
  now: Date,
): Promise<AccountDashboard> {
  const { readStore } = deps;
  const { accountId } = account;
  const ids = daysIn(range, now).map((day) => dayOf(accountId, day));
  const days = await readStore.getMany<DayDocument>(accountDays.collection.name, ids);
  const totals = await readStore.get<AccountTotalsDocument>(accountTotals.collection.name, accountId);
  return {
    series: timeSeries(range, now, days),
    totals: hitCounts(totals),
    top: (await topLinks(deps, accountId, { limit: TOP_LINKS })).links,
    usage: await accountUsage(deps, account),
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
