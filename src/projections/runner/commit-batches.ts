// When a runner commits: as soon as so many events are there, or so long after the commit before.
import type { RecordedEvent } from "../../event-store/port.ts";
import { pause } from "../../runtime/pause.ts";

/** Whichever is first makes a commit due: so many events, held in memory, or so long since the last commit's end. */
export type CommitRules = { mostEvents: number; everyMs: number };

/**
 * From 5,000 events a commit on, which is a flood, every two seconds: twice a second cost redirects 6 % (the ratio of
 * `npm run bench redirect` was 0.34 to 0.35, and 0.36 to 0.37 so).
 */
const FLOOD_EVENTS = 5_000;
const EVERY_MS_IN_FLOOD = 2_000;
/** Until a commit is due, a store that gave fewer events than this is not asked again for a while. */
const FEW_EVENTS = 1_000;
const ASK_EVERY_MS = 100;

export type CommitClock = {
  /** Milliseconds from any start. */
  now: () => number;
  /** Ends early, and quietly, when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

type Batches = AsyncIterator<RecordedEvent[]>;

/**
 * Joins the batches of a subscription until a commit is due, then yields them. An event that comes when `everyMs` are
 * over is yielded at once: in a quiet service none waits. A backlog is yielded in full batches without a pause. Ends
 * with the subscription, which ends with `signal`. @throws what the subscription throws
 */
export async function* commitBatches(
  subscribe: (signal: AbortSignal) => AsyncIterable<RecordedEvent[]>,
  { mostEvents, everyMs }: CommitRules,
  signal: AbortSignal,
  { now, sleep }: CommitClock = { now: () => performance.now(), sleep: pause },
): AsyncGenerator<RecordedEvent[]> {
  const left = new AbortController();
  const source = subscribe(AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]();
  let pending: ReturnType<Batches["next"]> | undefined;
  let dueAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      const first = await (pending ?? pull(source));
      pending = undefined;
      if (first.done) return;
      const events = first.value;
      let latest = events.length;
      while (events.length < mostEvents && now() < dueAt) {
        if (latest < FEW_EVENTS) await sleep(Math.min(ASK_EVERY_MS, dueAt - now()), signal);
        pending ??= pull(source);
        const more = await within(Math.max(0, dueAt - now()), pending, sleep);
        if (!more || more.done) break;
        pending = undefined;
        latest = more.value.length;
        for (const event of more.value) events.push(event);
      }
      yield events;
      const isFull = events.length >= mostEvents;
      const pauseMs = events.length < FLOOD_EVENTS ? everyMs : Math.max(everyMs, EVERY_MS_IN_FLOOD);
      dueAt = now() + (isFull ? 0 : pauseMs);
    }
  } finally {
    // A pull in flight would otherwise hold the subscription open until the next event.
    left.abort();
    await source.return?.();
  }
}

/** What it rejects with is thrown where it is awaited, if it still is. */
function pull(source: Batches): ReturnType<Batches["next"]> {
  const pulled = source.next();
  pulled.catch(() => undefined);
  return pulled;
}

/** Undefined when the time is over first. */
async function within<T>(
  ms: number,
  pending: Promise<T>,
  sleep: CommitClock["sleep"],
): Promise<T | undefined> {
  const settled = new AbortController();
  const late = sleep(ms, settled.signal).then(() => undefined);
  return await Promise.race([pending, late]).finally(() => settled.abort());
}
