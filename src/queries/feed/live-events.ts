// Events as they happen, such as those of one account: one shared subscription for all watchers, each of which has a cursor
// of its own.
import { EventEmitter, once } from "node:events";
import { CATEGORY } from "../../events/streams.ts";
import { laterOf } from "../../projections/definitions/click-tables/positions.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";

/** `events`: in log order. `position`: the log is searched up to here; a watcher continues from it when it reconnects. */
export type LiveEventBatch = { events: RecordedEvent[]; position: Position };

export type LiveEvents = ReturnType<typeof liveEvents>;

export type LiveEventsDeps = {
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  log: { warn: (fields: object, message: string) => void };
};

/** The key of an event that all watchers get. */
export const EVERY_KEY = "*";

/** Whose event one is: the key that a watcher names, or EVERY_KEY. */
type KeyOf = (event: RecordedEvent) => string | undefined | Promise<string | undefined>;

const CATEGORIES = Object.values(CATEGORY);
const BATCH = 1_000;
/** Events to read for one watcher that reconnects or is slow: some seconds of heavy traffic, weeks of light traffic. */
const MOST_SEARCHED = 50_000;
/** The newest events, kept for all watchers together; whoever is further behind reads from the log. */
const MOST_KEPT = 2_000;
const RETRY_MS = 1_000;

/** The subscription runs only while there are watchers. */
export function liveEvents(deps: LiveEventsDeps, keyOf: KeyOf) {
  let shared: { tail: ReturnType<typeof openTail>; watchers: number } | undefined;
  return {
    /**
     * Events of the key after the position, each once and in order, until the signal aborts. Batches may be empty when only
     * events of other keys were appended. For a slow consumer nothing is kept but its position. Ends with `tooFar` when more
     * than MOST_SEARCHED events would have to be read from the log.
     */
    async *follow(
      key: string,
      after: Position,
      signal: AbortSignal,
    ): AsyncGenerator<LiveEventBatch, "tooFar" | undefined> {
      shared ??= { tail: openTail(deps, keyOf), watchers: 0 };
      const joined = shared;
      joined.watchers += 1;
      const { tail } = joined;
      try {
        if (tail.end() === undefined) await tail.moved(signal);
        let position = after;
        for (let searched = 0; !signal.aborted; ) {
          // Before the log is read: what is appended meanwhile must not be passed over.
          const end = tail.end() ?? START;
          const kept = tail.after(position);
          const part = { after: position, categories: CATEGORIES, limit: BATCH };
          const read = kept ? undefined : await deps.eventStore.readAll(part);
          const events = kept ?? (await keyed(read?.events ?? [], keyOf));
          searched = kept ? 0 : searched + events.length;
          if (searched > MOST_SEARCHED) return "tooFar";
          position = read?.next ?? laterOf(position, end);
          const own = events.filter((event) => event.key === key || event.key === EVERY_KEY);
          yield { events: own.map(({ event }) => event), position };
          while (!signal.aborted && position >= (tail.end() ?? START)) await tail.moved(signal);
        }
        return undefined;
      } finally {
        joined.watchers -= 1;
        if (joined.watchers === 0) {
          tail.close();
          if (shared === joined) shared = undefined;
        }
      }
    },
  };
}

type Keyed = { event: RecordedEvent; key: string | undefined };

async function keyed(events: readonly RecordedEvent[], keyOf: KeyOf): Promise<Keyed[]> {
  return await Promise.all(events.map(async (event) => ({ event, key: await keyOf(event) })));
}

/** The newest events of the subscription. */
function openTail({ eventStore, sleep, log }: LiveEventsDeps, keyOf: KeyOf) {
  const stop = new AbortController();
  const { signal } = stop;
  const news = new EventEmitter().setMaxListeners(0);
  let kept: Keyed[] = [];
  let start = START;
  let end: Position | undefined;

  const run = async () => {
    while (!signal.aborted) {
      try {
        if (end === undefined) {
          start = await eventStore.head();
          end = start;
          news.emit("moved");
        }
        const options = { after: end, categories: CATEGORIES, signal, batchSize: BATCH };
        for await (const { events, next } of eventStore.subscribe(options)) {
          kept.push(...(await keyed(events, keyOf)));
          const dropped = kept.splice(0, Math.max(0, kept.length - MOST_KEPT));
          start = dropped.at(-1)?.event.position ?? start;
          end = next;
          news.emit("moved");
        }
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, "live events interrupted, trying again");
      }
      if (!signal.aborted) await sleep(RETRY_MS);
    }
    kept = [];
  };
  void run();
  return {
    /** Undefined until the head of the log is known. */
    end: () => end,
    /** All events after the position; undefined when they are no longer all kept. */
    after: (position: Position): Keyed[] | undefined =>
      position < start
        ? undefined
        : kept.slice(kept.findLastIndex(({ event }) => event.position <= position) + 1),
    /** Resolves when the end has moved, or the signal aborts. */
    moved: (watching: AbortSignal) => once(news, "moved", { signal: watching }).catch(() => undefined),
    close: () => stop.abort(),
  };
}
