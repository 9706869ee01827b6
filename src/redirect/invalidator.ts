// Keeps the link cache true: follows what any process does to links and domains, for ever.
import { setTimeout as sleep } from "node:timers/promises";
import type { EventStore, Position, RecordedEvent } from "../event-store/port.ts";
import { PREFIX } from "../events/streams.ts";
import { checkpointName } from "../projections/checkpoint-name.ts";
import { domains } from "../projections/domains.ts";
import { links } from "../projections/links.ts";
import type { ReadStore } from "../read-store/port.ts";
import type { LinkLookup } from "./lookup.ts";

export type InvalidatorDeps = {
  eventStore: EventStore;
  readStore: ReadStore;
  lookup: LinkLookup;
  /** [0,1) for jitter. */
  random: () => number;
  log: (message: string) => void;
};

const LONGEST_PAUSE_MS = 5_000;

/**
 * Starts where the documents stand, not at the head: whatever they don't show yet is thus heard of here. Resolves
 * when `signal` aborts; a drop is followed by another subscription after a jittered pause.
 */
export async function runInvalidator(deps: InvalidatorDeps, signal: AbortSignal): Promise<void> {
  let after: Position | undefined;
  let started = false;
  for (let pause = 50; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      if (!started) after = await documentsPosition(deps.readStore);
      started = true;
      const prefixes = [PREFIX.account, PREFIX.link];
      for await (const events of deps.eventStore.subscribe({ after, prefixes, signal })) {
        for (const event of events) apply(deps.lookup, event);
        after = events.at(-1)?.position ?? after;
        pause = 50;
      }
    } catch (error) {
      deps.log(`Cache invalidation: ${error instanceof Error ? error.message : String(error)}`);
    }
    await sleep(pause * (0.5 + deps.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

async function documentsPosition(readStore: ReadStore): Promise<Position | undefined> {
  const checkpoints = [
    await readStore.checkpoint(checkpointName(links)),
    await readStore.checkpoint(checkpointName(domains)),
  ];
  const positions = checkpoints.map((checkpoint) => checkpoint?.position);
  return positions.includes(undefined) ? undefined : positions.sort()[0];
}

function apply(lookup: LinkLookup, event: RecordedEvent): void {
  if (event.stream.startsWith(PREFIX.link)) {
    lookup.outdate(event.stream.slice(PREFIX.link.length), event.revision);
    return;
  }
  const hostname = hostnameOf(event.data);
  if (hostname === undefined) return;
  // The documents may lag behind this event: what closes a domain counts at once, the rest is asked for again.
  if (event.type === "DomainDeactivated" || event.type === "DomainRemoved") lookup.domains.close(hostname);
  else lookup.domains.forget(hostname);
}

function hostnameOf(data: unknown): string | undefined {
  const hostname = (data as { hostname?: unknown } | null)?.hostname;
  return typeof hostname === "string" ? hostname : undefined;
}
