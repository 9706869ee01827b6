// Clicks of single links as they happen: one subscription for all who watch, each from the event they ask for.
import type { EventStore, Position, RecordedEvent } from "../event-store/port.ts";
import type { LinkClicked } from "../events/catalogue.ts";
import { readEvent } from "../events/read-event.ts";
import { PREFIX } from "../events/streams.ts";

export type LiveClick = LinkClicked["data"] & { position: Position };

/** `position`: the log up to here has been searched; whoever comes again goes on from it. Clicks in order. */
export type LiveBatch = { clicks: LiveClick[]; position: Position };

export type LiveClicks = {
  /**
   * Hits of the link (its key) after the position, each once and in order, until the signal aborts; also empty
   * batches, when the log went on without it. Pulled: whoever is slow gets fewer, larger batches.
   * Ends with `tooFar` when more was written since than is worth searching.
   */
  follow(link: string, after: Position, signal: AbortSignal): AsyncGenerator<LiveBatch, "tooFar" | undefined>;
};

type Watcher = { link: string; clicks: LiveClick[]; wake: () => void };

type Deps = {
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  log: { warn: (fields: object, message: string) => void };
};

const BATCH = 1_000;
/** Events that one who comes back may make us search: some seconds of heavy traffic, weeks of light. */
const MOST_SEARCHED = 50_000;
/** A watcher that doesn't read is told to start over when this much waits for it. */
const MOST_WAITING = 10_000;
const RETRY_MS = 1_000;

/** The subscription runs only while somebody watches. */
export function liveClicks(deps: Deps): LiveClicks {
  let hub: Hub | undefined;
  return {
    async *follow(link, after, signal) {
      hub ??= openHub(deps);
      const joined = hub;
      let woken = Promise.withResolvers<void>();
      const watcher: Watcher = { link, clicks: [], wake: () => woken.resolve() };
      signal.addEventListener("abort", watcher.wake);
      joined.watchers.add(watcher);
      try {
        await Promise.race([joined.started, woken.promise]);
        let position = after;
        // What was written before this watcher joined is searched for; the rest is being handed to it meanwhile.
        for (let searched = 0; !signal.aborted && position < joined.reached(); ) {
          const events = await deps.eventStore.readAll({
            after: position || undefined,
            prefixes: [PREFIX.clicks],
            limit: BATCH,
          });
          searched += events.length;
          if (searched > MOST_SEARCHED) return "tooFar";
          position = events.at(-1)?.position ?? joined.reached();
          yield { clicks: events.flatMap((event) => ofLink(event, link)), position };
        }
        while (!signal.aborted) {
          if (watcher.clicks.length > MOST_WAITING) return "tooFar";
          const from = position;
          const clicks = watcher.clicks.splice(0).filter((click) => click.position > from);
          if (joined.reached() > position) position = joined.reached();
          woken = Promise.withResolvers<void>();
          yield { clicks, position };
          if (watcher.clicks.length === 0 && !signal.aborted) await woken.promise;
        }
        return undefined;
      } finally {
        signal.removeEventListener("abort", watcher.wake);
        joined.watchers.delete(watcher);
        if (joined.watchers.size === 0) {
          joined.close();
          if (hub === joined) hub = undefined;
        }
      }
    },
  };
}

/** `reached`: what is behind it was handed to every watcher that was there. */
type Hub = { watchers: Set<Watcher>; started: Promise<void>; reached: () => Position; close: () => void };

function openHub({ eventStore, sleep, log }: Deps): Hub {
  const watchers = new Set<Watcher>();
  const stop = new AbortController();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let reached: Position = "";

  const hand = (events: readonly RecordedEvent[]) => {
    reached = events.at(-1)?.position ?? reached;
    const watched = Map.groupBy(watchers, ({ link }) => link);
    for (const recorded of events) {
      const watching = watched.get((recorded.data as { link?: string }).link ?? "");
      const click = watching && clickOf(recorded);
      if (click) for (const { clicks } of watching) clicks.push(click);
    }
    for (const { wake } of watchers) wake();
  };

  const run = async ({ signal }: AbortController) => {
    for (let headKnown = false; !signal.aborted; ) {
      try {
        if (!headKnown) reached = (await eventStore.head()) ?? "";
        headKnown = true;
        start();
        const options = { after: reached || undefined, prefixes: [PREFIX.clicks], signal, batchSize: BATCH };
        for await (const events of eventStore.subscribe(options)) {
          if (signal.aborted) return;
          hand(events);
        }
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, "live clicks interrupted, trying again");
      }
      if (!signal.aborted) await sleep(RETRY_MS);
    }
  };
  void run(stop);
  return { watchers, started, reached: () => reached, close: () => stop.abort() };
}

/** One or none. */
export function ofLink(recorded: RecordedEvent, link: string): LiveClick[] {
  const click = (recorded.data as { link?: string }).link === link ? clickOf(recorded) : undefined;
  return click ? [click] : [];
}

/** Undefined for what this version can't read: it is the projections' business to stop there. */
function clickOf(recorded: RecordedEvent): LiveClick | undefined {
  try {
    const event = readEvent(recorded);
    return event?.type === "LinkClicked" ? { ...event.data, position: event.position } : undefined;
  } catch {
    return undefined;
  }
}
