// Joins event batches into commits: at a maximum of events, or when the commit interval is over.
import type { RecordedEvent } from "../../event-store/port.ts";
import { pause } from "../../runtime/pause.ts";

/** A commit is due with `maxEvents` in memory, or `intervalMs` after the end of the last commit, whichever is first. */
export type CommitRules = { maxEvents: number; intervalMs: number };

/**
 * At this rate the interval is two seconds, as documents that many events change are then written less often. By rate,
 * not by the events of one commit: after a long commit the next one has many at any rate, and would stay at the long
 * interval.
 */
const HIGH_LOAD_EVENTS_A_SECOND = 8_000;
const HIGH_LOAD_INTERVAL_MS = 2_000;
/** After a batch of fewer events the next pull waits, so that events are read in larger batches. */
const SMALL_BATCH_EVENTS = 1_000;
const PULL_INTERVAL_MS = 100;

export type CommitClock = {
  /** Monotonic milliseconds. */
  now: () => number;
  /** Resolves early, without an error, when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

type Batches = AsyncIterator<RecordedEvent[]>;

/**
 * Joins the batches of a subscription until a commit is due, then yields them. An event that arrives after the interval
 * is yielded immediately, so that it is not delayed under low load; a backlog is yielded in full batches without a
 * pause. Ends with the subscription, which `signal` ends. @throws what the subscription throws
 */
export async function* commitBatches(
  subscribe: (signal: AbortSignal) => AsyncIterable<RecordedEvent[]>,
  { maxEvents, intervalMs }: CommitRules,
  signal: AbortSignal,
  { now, sleep }: CommitClock = { now: () => performance.now(), sleep: pause },
): AsyncGenerator<RecordedEvent[]> {
  const left = new AbortController();
  const source = subscribe(AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]();
  let pending: ReturnType<Batches["next"]> | undefined;
  let dueAt = Number.NEGATIVE_INFINITY;
  let committedAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      const first = await (pending ?? pull(source));
      pending = undefined;
      if (first.done) return;
      const events = first.value;
      let latest = events.length;
      while (events.length < maxEvents && now() < dueAt) {
        if (latest < SMALL_BATCH_EVENTS)
          await sleep(Math.max(0, Math.min(PULL_INTERVAL_MS, dueAt - now())), signal);
        pending ??= pull(source);
        const more = await within(Math.max(0, dueAt - now()), pending, sleep);
        if (!more || more.done) break;
        pending = undefined;
        latest = more.value.length;
        for (const event of more.value) events.push(event);
      }
      yield events;
      const isFull = events.length >= maxEvents;
      const rate = (events.length * 1_000) / (now() - committedAt);
      committedAt = now();
      const pauseMs =
        rate < HIGH_LOAD_EVENTS_A_SECOND ? intervalMs : Math.max(intervalMs, HIGH_LOAD_INTERVAL_MS);
      dueAt = committedAt + (isFull ? 0 : pauseMs);
    }
  } finally {
    // Otherwise a pull in flight keeps the subscription open until the next event.
    left.abort();
    await source.return?.();
  }
}

/** Catches the rejection of a pull that is no longer awaited; who awaits it still gets the rejection. */
function pull(source: Batches): ReturnType<Batches["next"]> {
  const pulled = source.next();
  pulled.catch(() => undefined);
  return pulled;
}

/** Undefined after `ms` without a result. */
async function within<T>(
  ms: number,
  pending: Promise<T>,
  sleep: CommitClock["sleep"],
): Promise<T | undefined> {
  const settled = new AbortController();
  const timeout = sleep(ms, settled.signal).then(() => undefined);
  return await Promise.race([pending, timeout]).finally(() => settled.abort());
}
