// Which projections run together: lifecycle apart from clicks, so that a click backlog never delays keys and links.
import { accountDays } from "./account-days.ts";
import { accountLinks } from "./account-links.ts";
import { accountTotals } from "./account-totals.ts";
import { accounts } from "./accounts.ts";
import { clickHours } from "./click-hours.ts";
import { domains } from "./domains.ts";
import { keys } from "./keys.ts";
import { linkBreakdowns } from "./link-breakdowns.ts";
import { linkDays } from "./link-days.ts";
import { linkTotals } from "./link-totals.ts";
import { links } from "./links.ts";
import type { Projection } from "./projection.ts";
import { recentClicks } from "./recent-clicks.ts";
import { webhooks } from "./webhooks.ts";

export const lifecycleProjections: readonly Projection[] = [
  accounts,
  keys,
  domains,
  webhooks,
  links,
  accountLinks,
];

/** The runner writes in this order; queries/link-clicks.ts relies on link-days coming first. */
export const clickProjections: readonly Projection[] = [
  linkDays,
  linkTotals,
  linkBreakdowns,
  recentClicks,
  accountDays,
  accountTotals,
  clickHours,
];

export const allProjections: readonly Projection[] = [...lifecycleProjections, ...clickProjections];
