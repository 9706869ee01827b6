// The two groups of projections: each has one version, one checkpoint and one build, which folds all of them together.
// Lifecycle is apart from clicks, so that a backlog of clicks never delays keys and links.
import { CATEGORY } from "../events/streams.ts";
import type { CollectionSpec } from "../stores/read-store/port.ts";
import { accountLinks } from "./definitions/account-links.ts";
import { accounts } from "./definitions/accounts.ts";
import { brands } from "./definitions/brands.ts";
import { clickGaps } from "./definitions/click-gaps.ts";
import { clickHours } from "./definitions/click-hours.ts";
import { clickTables } from "./definitions/click-tables/chunk.ts";
import { domains } from "./definitions/domains.ts";
import { eventIndex } from "./definitions/event-index.ts";
import { keys, keyTexts } from "./definitions/keys.ts";
import { linkTotals } from "./definitions/link-totals.ts";
import { links } from "./definitions/links.ts";
import { persons } from "./definitions/persons.ts";
import { accountDays } from "./definitions/summaries/account-day.ts";
import { linkDays } from "./definitions/summaries/day.ts";
import { linkLife } from "./definitions/summaries/link-life.ts";
import { openDays } from "./definitions/summaries/open-days.ts";
import { quietLinks } from "./definitions/summaries/quiet-links.ts";
import { webhooks } from "./definitions/webhooks.ts";
import { weeklyMails } from "./definitions/weekly-mails.ts";
import type { Projection } from "./projection.ts";

export type ProjectionGroup = {
  name: string;
  /** Raised when a fold changes: a build of the new version is folded beside the active one, then becomes active. */
  version: number;
  /** Oldest version whose documents queries can read; builds of versions before are not queried. */
  readsSince: number;
  projections: readonly Projection[];
  /** Whether clicks are folded into tables besides. */
  hasClickTables: boolean;
  /** Categories of the streams to read, such as `clicks`. */
  categories: readonly string[];
  /** How long after the end of the last commit the next one is made; `most`: where commits take long. */
  commitMs: { least: number; most: number };
};

/** Commits soon, as portal pages wait until a link that was just created is in the documents. */
export const lifecycle: ProjectionGroup = {
  name: "lifecycle",
  version: 7,
  readsSince: 6,
  projections: [
    accounts,
    brands,
    keys,
    keyTexts,
    persons,
    domains,
    webhooks,
    weeklyMails,
    links,
    accountLinks,
    clickGaps,
    eventIndex,
  ] as readonly Projection[],
  hasClickTables: false,
  categories: [
    CATEGORY.account,
    CATEGORY.domain,
    CATEGORY.link,
    CATEGORY.withdrawals,
    CATEGORY.gaps,
    CATEGORY.operator,
    CATEGORY.person,
  ],
  commitMs: { least: 100, most: 300 },
};

/** Chunks and totals are written once a commit, however many clicks they count. */
export const clicks: ProjectionGroup = {
  name: "clicks",
  version: 7,
  readsSince: 7,
  projections: [],
  hasClickTables: true,
  categories: [CATEGORY.clicks, CATEGORY.withdrawals],
  commitMs: { least: 300, most: 2_000 },
};

/** A day is listed as open before it has a row. */
const CLICK_COLLECTIONS = [
  ...[openDays, clickTables, linkTotals, clickHours],
  ...[linkDays, quietLinks, accountDays, linkLife],
];

/** Of all that the group folds, in the order in which a commit writes them. */
export function groupCollections({
  projections,
  hasClickTables,
}: Pick<ProjectionGroup, "projections" | "hasClickTables">): CollectionSpec[] {
  const folded = projections.map(({ collection }) => collection);
  return hasClickTables ? [...folded, ...CLICK_COLLECTIONS] : folded;
}

export const projectionGroups: readonly ProjectionGroup[] = [lifecycle, clicks];
