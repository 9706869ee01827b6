// Live events, such as those of one account: one shared subscription for all watchers, each of which starts at its own
// position.
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";

/**
 * `events`: in log order. `position`: the log is searched up to here; a watcher continues from it when it reconnects.
 */
export type LiveEventBatch = { events: RecordedEvent[]; position: Position };

export type LiveEvents = {
  /**
   * Events of the key after the position, each once and in order, until the signal aborts. Batches may be empty when
   * only events of other keys were appended. Pull-based: for a slow consumer up to MOST_WAITING events are buffered,
   * beyond that they are read from the log again. Ends with `tooFar` when more than MOST_SEARCHED events would have to
   * be read.
   */
  follow(
    key: string,
    after: Position,
    signal: AbortSignal,
  ): AsyncGenerator<LiveEventBatch, "tooFar" | undefined>;
  /** Number of events buffered for all watchers. */
  waiting(): number;
};

export type LiveEventsDeps = {
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  log: { warn: (fields: object, message: string) => void };
};

/** The key of an event that all watchers get. */
export const EVERY_KEY = "*";

/** Which streams are watched, and whose event one is: the key that a watcher names, or EVERY_KEY. */
export type LiveSource = {
  categories: readonly string[];
  keyOf: (event: RecordedEvent) => string | undefined | Promise<string | undefined>;
};

/** `behind`: `events` is incomplete, so the log has to be read from the watcher's position. */
type Watcher = { key: string; events: RecordedEvent[]; behind: boolean; wake: () => void };

const BATCH = 1_000;
/** Events to read for one watcher that reconnects or is slow: some seconds of heavy traffic, weeks of light traffic. */
const MOST_SEARCHED = 50_000;
/** Events buffered for one watcher: a quarter of a second of a very busy link. */
const MOST_WAITING = 1_000;
const RETRY_MS = 1_000;

/** The subscription runs only while there are watchers. */
export function liveEvents(deps: LiveEventsDeps, source: LiveSource): LiveEvents {
  let hub: Hub | undefined;
  return {
    async *follow(key, after, signal) {
      hub ??= openHub(deps, source);
      const joined = hub;
      let woken = Promise.withResolvers<void>();
      const watcher: Watcher = { key, events: [], behind: true, wake: () => woken.resolve() };
      signal.addEventListener("abort", watcher.wake);
      joined.watchers.add(watcher);
      try {
        await Promise.race([joined.started, woken.promise]);
        let position = after;
        while (!signal.aborted) {
          if (watcher.behind) {
            // From here on the hub buffers new events for the watcher; earlier ones are read from the log.
            watcher.events = [];
            watcher.behind = false;
            const reached = joined.reached();
            for (let searched = 0; !signal.aborted && position < reached; ) {
              const options = { after: position || undefined, categories: source.categories, limit: BATCH };
              const events = await deps.eventStore.readAll(options);
              searched += events.length;
              if (searched > MOST_SEARCHED) return "tooFar";
              position = events.at(-1)?.position ?? reached;
              const keys = await keysOf(events, source);
              yield { events: events.filter((_, n) => keys[n] === key || keys[n] === EVERY_KEY), position };
            }
            continue;
          }
          const from = position;
          const events = watcher.events.splice(0).filter((event) => event.position > from);
          if (joined.reached() > position) position = joined.reached();
          woken = Promise.withResolvers<void>();
          yield { events, position };
          if (watcher.events.length === 0 && !watcher.behind && !signal.aborted) await woken.promise;
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
      for (const { events } of hub?.watchers ?? []) waiting += events.length;
      return waiting;
    },
  };
}

/** `reached`: events up to here have been distributed to the watchers. */
type Hub = { watchers: Set<Watcher>; started: Promise<void>; reached: () => Position; close: () => void };

function openHub({ eventStore, sleep, log }: LiveEventsDeps, source: LiveSource): Hub {
  const { categories } = source;
  const watchers = new Set<Watcher>();
  const stop = new AbortController();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let reached: Position = "";

  const distribute = (events: readonly RecordedEvent[], keys: Keys) => {
    reached = events.at(-1)?.position ?? reached;
    const watched = Map.groupBy(watchers, ({ key }) => key);
    for (const [n, recorded] of events.entries()) {
      const key = keys[n] ?? "";
      for (const watcher of key === EVERY_KEY ? watchers : (watched.get(key) ?? []))
        buffer(watcher, recorded);
    }
    for (const { wake } of watchers) wake();
  };

  const run = async ({ signal }: AbortController) => {
    for (let headKnown = false; !signal.aborted; ) {
      try {
        if (!headKnown) reached = (await eventStore.head()) ?? "";
        headKnown = true;
        start();
        const options = { after: reached || undefined, categories, signal, batchSize: BATCH };
        for await (const events of eventStore.subscribe(options)) {
          const keys = await keysOf(events, source);
          if (signal.aborted) return;
          distribute(events, keys);
        }
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, "live events interrupted, trying again");
      }
      if (!signal.aborted) await sleep(RETRY_MS);
    }
  };
  void run(stop);
  return { watchers, started, reached: () => reached, close: () => stop.abort() };
}

type Keys = readonly (string | undefined)[];

function keysOf(events: readonly RecordedEvent[], { keyOf }: LiveSource): Keys | Promise<Keys> {
  const keys = events.map(keyOf);
  return keys.some((key) => key instanceof Promise) ? Promise.all(keys) : (keys as Keys);
}

/** When the buffer is full it is dropped and the watcher reads from the log. */
function buffer(watcher: Watcher, event: RecordedEvent): void {
  if (watcher.behind) return;
  if (watcher.events.length < MOST_WAITING) {
    watcher.events.push(event);
    return;
  }
  watcher.events = [];
  watcher.behind = true;
}
