// The two groups of projections: each has one version, one checkpoint and one build, which folds all of them together.
// Lifecycle is apart from clicks, so that a backlog of clicks never delays keys and links.
import { CATEGORY } from "../events/streams.ts";
import { accountLinks } from "./definitions/account-links.ts";
import { accounts } from "./definitions/accounts.ts";
import { brands } from "./definitions/brands.ts";
import { clickGaps } from "./definitions/click-gaps.ts";
import { clickHours } from "./definitions/click-hours.ts";
import { accountDays } from "./definitions/days/account-day.ts";
import { linkDays } from "./definitions/days/link-day.ts";
import { domains } from "./definitions/domains.ts";
import { eventIndex } from "./definitions/event-index.ts";
import { keys, keyTexts } from "./definitions/keys.ts";
import { linkClicks } from "./definitions/link-clicks.ts";
import { links } from "./definitions/links.ts";
import { webhooks } from "./definitions/webhooks.ts";
import type { Projection } from "./projection.ts";

export type ProjectionGroup = {
  name: string;
  /** Raised when a fold changes: a build of the new version is folded beside the active one, then becomes active. */
  version: number;
  /** Oldest version whose documents queries can read; builds of versions before are not queried. */
  readsSince: number;
  projections: readonly Projection[];
  /** Categories of the streams to read, such as `clicks`. */
  categories: readonly string[];
  /** How long after the end of the last commit the next one is made; `most`: where each has many events. */
  commitMs: { least: number; most: number };
};

/** Commits soon, as portal pages wait until a link that was just created is in the documents. */
export const lifecycle: ProjectionGroup = {
  name: "lifecycle",
  version: 3,
  readsSince: 3,
  projections: [
    accounts,
    brands,
    keys,
    keyTexts,
    domains,
    webhooks,
    links,
    accountLinks,
    clickGaps,
    eventIndex,
  ] as readonly Projection[],
  categories: [
    CATEGORY.account,
    CATEGORY.domain,
    CATEGORY.link,
    CATEGORY.withdrawals,
    CATEGORY.gaps,
    CATEGORY.operator,
  ],
  commitMs: { least: 100, most: 300 },
};

/** A document is written once a commit, however many clicks it counts: under load it is written once a second. */
export const clicks: ProjectionGroup = {
  name: "clicks",
  version: 2,
  readsSince: 2,
  projections: [accountDays, linkDays, linkClicks, clickHours] as readonly Projection[],
  categories: [CATEGORY.clicks, CATEGORY.withdrawals],
  commitMs: { least: 300, most: 1_000 },
};

export const projectionGroups: readonly ProjectionGroup[] = [lifecycle, clicks];
