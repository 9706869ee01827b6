// Clicks of single links as they happen: one subscription for all who watch, each from the event they ask for.
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import type { LinkClicked } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import { PREFIX } from "../../events/streams.ts";

export type LiveClick = LinkClicked["data"] & { position: Position };

/** `position`: the log up to here has been searched; whoever comes again goes on from it. Clicks in order. */
export type LiveBatch = { clicks: LiveClick[]; position: Position };

export type LiveClicks = {
  /**
   * Hits of the link (its key) after the position, each once and in order, until the signal aborts; also empty
   * batches, when the log went on without it. Pulled: for whoever is slow some clicks wait in memory, beyond that they
   * are read from the log again. Ends with `tooFar` when more was written since than is worth searching.
   */
  follow(link: string, after: Position, signal: AbortSignal): AsyncGenerator<LiveBatch, "tooFar" | undefined>;
  /** Clicks that wait in memory for all watchers together. */
  waiting(): number;
};

/** `behind`: not all of the link's clicks are in `clicks`; the log has to be searched from where the watcher is. */
type Watcher = { link: string; clicks: LiveClick[]; behind: boolean; wake: () => void };

type Deps = {
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  log: { warn: (fields: object, message: string) => void };
};

const BATCH = 1_000;
/** Events that one who comes back, or reads slowly, may make us search: some seconds of heavy traffic, weeks of light. */
const MOST_SEARCHED = 50_000;
/** Clicks that wait for one watcher: a quarter of a second of a very hot link. */
const MOST_WAITING = 1_000;
const RETRY_MS = 1_000;

/** The subscription runs only while somebody watches. */
export function liveClicks(deps: Deps): LiveClicks {
  let hub: Hub | undefined;
  return {
    async *follow(link, after, signal) {
      hub ??= openHub(deps);
      const joined = hub;
      let woken = Promise.withResolvers<void>();
      const watcher: Watcher = { link, clicks: [], behind: true, wake: () => woken.resolve() };
      signal.addEventListener("abort", watcher.wake);
      joined.watchers.add(watcher);
      try {
        await Promise.race([joined.started, woken.promise]);
        let position = after;
        while (!signal.aborted) {
          if (watcher.behind) {
            // What comes from here on is handed to the watcher; what was written before is searched for.
            watcher.clicks = [];
            watcher.behind = false;
            const handed = joined.reached();
            for (let searched = 0; !signal.aborted && position < handed; ) {
              const events = await readClicks(deps, position);
              searched += events.length;
              if (searched > MOST_SEARCHED) return "tooFar";
              position = events.at(-1)?.position ?? handed;
              yield { clicks: events.flatMap((event) => ofLink(event, link)), position };
            }
            continue;
          }
          const from = position;
          const clicks = watcher.clicks.splice(0).filter((click) => click.position > from);
          if (joined.reached() > position) position = joined.reached();
          woken = Promise.withResolvers<void>();
          yield { clicks, position };
          if (watcher.clicks.length === 0 && !watcher.behind && !signal.aborted) await woken.promise;
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
    waiting() {
      let waiting = 0;
      for (const { clicks } of hub?.watchers ?? []) waiting += clicks.length;
      return waiting;
    },
  };
}

function readClicks({ eventStore }: Deps, after: Position): Promise<RecordedEvent[]> {
  return eventStore.readAll({ after: after || undefined, prefixes: [PREFIX.clicks], limit: BATCH });
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
      if (click) for (const watcher of watching) hold(watcher, click);
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

function hold(watcher: Watcher, click: LiveClick): void {
  if (watcher.behind) return;
  if (watcher.clicks.length < MOST_WAITING) {
    watcher.clicks.push(click);
    return;
  }
  watcher.clicks = [];
  watcher.behind = true;
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
