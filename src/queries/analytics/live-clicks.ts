// Live clicks of single links: one shared subscription for all watchers, each of which starts at its own position.
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import type { LinkClicked } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import { PREFIX } from "../../events/streams.ts";

export type LiveClick = LinkClicked["data"] & { position: Position };

/**
 * `clicks`: in log order. `position`: the log is searched up to here; a watcher continues from it when it reconnects.
 */
export type LiveBatch = { clicks: LiveClick[]; position: Position };

export type LiveClicks = {
  /**
   * Hits of the link (its key) after the position, each once and in order, until the signal aborts. Batches may be empty
   * when only other links were clicked. Pull-based: for a slow consumer up to MOST_WAITING clicks are buffered, beyond
   * that they are read from the log again. Ends with `tooFar` when more than MOST_SEARCHED events would have to be read.
   */
  follow(link: string, after: Position, signal: AbortSignal): AsyncGenerator<LiveBatch, "tooFar" | undefined>;
  /** Number of clicks buffered for all watchers. */
  waiting(): number;
};

/** `behind`: `clicks` is incomplete, so the log has to be read from the watcher's position. */
type Watcher = { link: string; clicks: LiveClick[]; behind: boolean; wake: () => void };

type Deps = {
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  log: { warn: (fields: object, message: string) => void };
};

const BATCH = 1_000;
/** Events to read for one watcher that reconnects or is slow: some seconds of heavy traffic, weeks of light traffic. */
const MOST_SEARCHED = 50_000;
/** Clicks buffered for one watcher: a quarter of a second of a very busy link. */
const MOST_WAITING = 1_000;
const RETRY_MS = 1_000;

/** The subscription runs only while there are watchers. */
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
            // From here on the hub buffers new clicks for the watcher; earlier ones are read from the log.
            watcher.clicks = [];
            watcher.behind = false;
            const reached = joined.reached();
            for (let searched = 0; !signal.aborted && position < reached; ) {
              const events = await readClicks(deps, position);
              searched += events.length;
              if (searched > MOST_SEARCHED) return "tooFar";
              position = events.at(-1)?.position ?? reached;
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

/** `reached`: clicks up to here have been distributed to the watchers. */
type Hub = { watchers: Set<Watcher>; started: Promise<void>; reached: () => Position; close: () => void };

function openHub({ eventStore, sleep, log }: Deps): Hub {
  const watchers = new Set<Watcher>();
  const stop = new AbortController();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let reached: Position = "";

  const distribute = (events: readonly RecordedEvent[]) => {
    reached = events.at(-1)?.position ?? reached;
    const watched = Map.groupBy(watchers, ({ link }) => link);
    for (const recorded of events) {
      const watching = watched.get((recorded.data as { link?: string }).link ?? "");
      const click = watching && clickOf(recorded);
      if (click) for (const watcher of watching) buffer(watcher, click);
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
          distribute(events);
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

/** When the buffer is full it is dropped and the watcher reads from the log. */
function buffer(watcher: Watcher, click: LiveClick): void {
  if (watcher.behind) return;
  if (watcher.clicks.length < MOST_WAITING) {
    watcher.clicks.push(click);
    return;
  }
  watcher.clicks = [];
  watcher.behind = true;
}

/** The click if `recorded` is one of the link, as an array for flatMap. */
export function ofLink(recorded: RecordedEvent, link: string): LiveClick[] {
  const click = (recorded.data as { link?: string }).link === link ? clickOf(recorded) : undefined;
  return click ? [click] : [];
}

/** Undefined for an event that this version can't read; only projections stop at such an event. */
function clickOf(recorded: RecordedEvent): LiveClick | undefined {
  try {
    const event = readEvent(recorded);
    return event?.type === "LinkClicked" ? { ...event.data, position: event.position } : undefined;
  } catch {
    return undefined;
  }
}
