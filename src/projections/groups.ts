// Which projections share a runner: lifecycle apart from clicks, so that a backlog of clicks never delays keys and links.
import { accountLinks } from "./definitions/account-links.ts";
import { accounts } from "./definitions/accounts.ts";
import { clickHours } from "./definitions/click-hours.ts";
import { accountDays } from "./definitions/days/days.ts";
import { domains } from "./definitions/domains.ts";
import { eventIndex } from "./definitions/event-index.ts";
import { keys } from "./definitions/keys.ts";
import { linkClicks } from "./definitions/link-clicks.ts";
import { links } from "./definitions/links.ts";
import { webhooks } from "./definitions/webhooks.ts";
import { checkpointName, type Projection } from "./projection.ts";
import type { CommitRules } from "./runner/commit-batches.ts";

export const lifecycleProjections: readonly Projection[] = [
  accounts,
  keys,
  domains,
  webhooks,
  links,
  accountLinks,
];

export const clickProjections: readonly Projection[] = [linkClicks, accountDays, clickHours];

/** Commit rules that are absent are the runner's own. */
export type ProjectionGroupSpec = Partial<CommitRules> & { name: string; projections: readonly Projection[] };

/** For events that each change documents of their own: a larger commit would write as many, and hold more in memory. */
const MAX_EVENTS = 5_000;

/** Each has a runner and a lease of its own. */
export const projectionGroups: readonly ProjectionGroupSpec[] = [
  {
    name: "lifecycle",
    // The index of audits reads the same events; nothing that is answered to callers waits for its checkpoint.
    projections: [...lifecycleProjections, eventIndex],
    // Short, as portal pages wait until a link that was just created is in the documents.
    commitIntervalMs: 100,
    maxEvents: MAX_EVENTS,
  },
  { name: "clicks", projections: clickProjections },
];

export const allProjections: readonly Projection[] = projectionGroups.flatMap(
  ({ projections }) => projections,
);

/** Checkpoints of the projections whose documents are cached in memory (coordination/log-follower.ts). */
export const cachedCheckpoints: readonly string[] = [accounts, keys, domains, links].map(checkpointName);
