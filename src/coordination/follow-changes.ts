// Keeps what a process has in memory true: follows what any process does to links, domains and keys, for ever.
import { messageOf } from "../errors.ts";
import type { EventStore, Position, RecordedEvent } from "../event-store/port.ts";
import { PREFIX } from "../events/streams.ts";
import { pause } from "../pause.ts";
import { checkpointName } from "../projections/checkpoint-name.ts";
import { domains } from "../projections/domains.ts";
import { keys } from "../projections/keys.ts";
import { links } from "../projections/links.ts";
import type { ReadStore } from "../read-store/port.ts";

/** `serves`: whether the hostname's links of this account work since the event at `position`. */
export type DomainChange = { hostname: string; accountId: string; serves: boolean; position: Position };

export type ChangeListener = {
  /** Something happened to a link: what is older than `revision` of it is no longer true. */
  link?(key: string, revision: number): void;
  domain?(change: DomainChange): void;
  keyDeactivated?(keyId: string): void;
};

export type FollowDeps = {
  eventStore: EventStore;
  readStore: Pick<ReadStore, "checkpoint">;
  listeners: readonly ChangeListener[];
  /** [0,1) for jitter. */
  random: () => number;
  log: (message: string) => void;
};

const PREFIXES = [PREFIX.account, PREFIX.link];
/** Other events of a domain, such as its home page, leave open whether it serves. */
const SERVES = new Map([
  ["DomainActivated", true],
  ["DomainAdded", false],
  ["DomainVerified", false],
  ["DomainDeactivated", false],
  ["DomainRemoved", false],
]);
const LONGEST_PAUSE_MS = 5_000;
const CATCH_UP_BATCH = 1_000;

/**
 * From now on, and, as soon as the read store can be asked, from where the documents stood up to now: what they don't
 * show yet is thus heard of here. Resolves when `signal` aborts; whatever fails is tried again after a jittered pause.
 */
export async function followChanges(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  let now: Position | undefined;
  await persistently(deps, signal, async () => {
    now = await deps.eventStore.head();
  });
  let after = now;
  await Promise.all([
    persistently(deps, signal, async (progress) => {
      for await (const events of deps.eventStore.subscribe({ after, prefixes: PREFIXES, signal })) {
        for (const event of events) apply(deps.listeners, event);
        after = events.at(-1)?.position ?? after;
        progress();
      }
      // A subscription that ends by itself was dropped.
      if (!signal.aborted) throw new Error("the subscription ended");
    }),
    persistently(deps, signal, () => catchUp(deps, now, signal)),
  ]);
}

async function catchUp(deps: FollowDeps, upTo: Position | undefined, signal: AbortSignal): Promise<void> {
  if (upTo === undefined) return;
  let after = await documentsPosition(deps.readStore);
  while (!signal.aborted && (after ?? "") < upTo) {
    const events = await deps.eventStore.readAll({ after, prefixes: PREFIXES, limit: CATCH_UP_BATCH });
    for (const event of events) apply(deps.listeners, event);
    if (events.length < CATCH_UP_BATCH) return;
    after = events.at(-1)?.position;
  }
}

async function documentsPosition(readStore: FollowDeps["readStore"]): Promise<Position | undefined> {
  const names = [links, domains, keys].map(checkpointName);
  const checkpoints = await Promise.all(names.map((name) => readStore.checkpoint(name)));
  const positions = checkpoints.map((checkpoint) => checkpoint?.position);
  return positions.includes(undefined) ? undefined : positions.sort()[0];
}

function apply(listeners: readonly ChangeListener[], event: RecordedEvent): void {
  if (event.stream.startsWith(PREFIX.link)) {
    for (const { link } of listeners) link?.(event.stream.slice(PREFIX.link.length), event.revision);
    return;
  }
  const { hostname, accountId, keyId } = (event.data ?? {}) as Record<string, string | undefined>;
  if (event.type === "KeyDeactivated" && keyId) {
    for (const { keyDeactivated } of listeners) keyDeactivated?.(keyId);
  }
  const serves = SERVES.get(event.type);
  if (hostname && accountId && serves !== undefined) {
    const change = { hostname, accountId, serves, position: event.position };
    for (const { domain } of listeners) domain?.(change);
  }
}

/** Until `work` succeeds; the pause starts small again after each `progress`. */
async function persistently(
  deps: Pick<FollowDeps, "random" | "log">,
  signal: AbortSignal,
  work: (progress: () => void) => Promise<void>,
): Promise<void> {
  let waitMs = 50;
  let last = "";
  const progress = () => {
    waitMs = 50;
    last = "";
  };
  while (!signal.aborted) {
    try {
      return await work(progress);
    } catch (error) {
      if (signal.aborted) return;
      const message = messageOf(error);
      // The same outage is one line, however often it is tried.
      if (message !== last) deps.log(`Following changes: ${message}`);
      last = message;
    }
    await pause(waitMs * (0.5 + deps.random() / 2), signal);
    waitMs = Math.min(waitMs * 2, LONGEST_PAUSE_MS);
  }
}
