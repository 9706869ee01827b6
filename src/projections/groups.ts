// Which projections share a runner: lifecycle apart from clicks, so that a backlog of clicks never delays keys and links.
import { accountLinks } from "./definitions/account-links.ts";
import { accountTotals } from "./definitions/account-totals.ts";
import { accounts } from "./definitions/accounts.ts";
import { clickHours } from "./definitions/click-hours.ts";
import { accountDays, linkDays } from "./definitions/days.ts";
import { domains } from "./definitions/domains.ts";
import { keys } from "./definitions/keys.ts";
import { linkClicks } from "./definitions/link-clicks.ts";
import { links } from "./definitions/links.ts";
import { webhooks } from "./definitions/webhooks.ts";
import { checkpointName, type Projection } from "./projection.ts";

export const lifecycleProjections: readonly Projection[] = [
  accounts,
  keys,
  domains,
  webhooks,
  links,
  accountLinks,
];

/** The runner writes in this order; queries/analytics/link-clicks.ts relies on link-days coming first. */
export const clickProjections: readonly Projection[] = [
  linkDays,
  linkClicks,
  accountDays,
  accountTotals,
  clickHours,
];

export const allProjections: readonly Projection[] = [...lifecycleProjections, ...clickProjections];

/** Checkpoints of the projections whose documents are cached in memory (coordination/log-follower.ts). */
export const cachedCheckpoints: readonly string[] = [accounts, keys, domains, links].map(checkpointName);
