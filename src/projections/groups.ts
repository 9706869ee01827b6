// Which projections run together: lifecycle apart from clicks, so that a click backlog never delays keys and links.
import { accounts } from "./accounts.ts";
import { domains } from "./domains.ts";
import { hourlyClicks } from "./hourly-clicks.ts";
import { keys } from "./keys.ts";
import { linkBreakdowns } from "./link-breakdowns.ts";
import { linkTotals } from "./link-totals.ts";
import { links } from "./links.ts";
import type { Projection } from "./projection.ts";
import { recentClicks } from "./recent-clicks.ts";
import { webhooks } from "./webhooks.ts";

export const lifecycleProjections: readonly Projection[] = [accounts, keys, domains, webhooks, links];

/** The runner writes in this order; queries/link-clicks.ts relies on hourly-clicks coming first. */
export const clickProjections: readonly Projection[] = [
  hourlyClicks,
  linkTotals,
  linkBreakdowns,
  recentClicks,
];

export const allProjections: readonly Projection[] = [...lifecycleProjections, ...clickProjections];
