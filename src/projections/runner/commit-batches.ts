// Joins event batches, and decides when what was folded is committed: when the commit interval is over, or at a maximum.
import type { RecordedEvent } from "../../event-store/port.ts";
import { pause } from "../../runtime/pause.ts";

/**
 * At most `maxEvents` are folded at a time. A commit is due `intervalMs` after the end of the last one, during a backlog
 * two seconds after it or with changed documents of `maxBytes` in memory, whichever is first.
 */
export type CommitRules = { maxEvents: number; intervalMs: number; maxBytes: number };

/** Clicks show within a second, also where a commit takes a third of it; a document is written three times a second. */
export const COMMIT_RULES: CommitRules = { maxEvents: 40_000, intervalMs: 300, maxBytes: 128 * 2 ** 20 };

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
 * Yields batches of a subscription to be folded, and `commit` when what was folded is to be committed. An event that
 * arrives after the interval is committed immediately, so that it is not delayed under low load. During a backlog batches
 * are full and follow each other without a pause. Ends with the subscription, which `signal` ends. `changedBytes`: of the
 * documents that are not committed. @throws what the subscription throws
 */
export async function* commitBatches(
  subscribe: (signal: AbortSignal) => AsyncIterable<RecordedEvent[]>,
  { maxEvents, intervalMs, maxBytes }: CommitRules,
  changedBytes: () => number,
  signal: AbortSignal,
  { now, sleep }: CommitClock = { now: () => performance.now(), sleep: pause },
): AsyncGenerator<RecordedEvent[] | "commit"> {
  const left = new AbortController();
  const source = subscribe(AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]();
  let pending: ReturnType<Batches["next"]> | undefined;
  let dueAt = Number.NEGATIVE_INFINITY;
  let committedAt = Number.NEGATIVE_INFINITY;
  let folded = 0;
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
        // After the end of high load there is nothing to wait for.
        const more = await within(Math.max(0, Math.min(intervalMs, dueAt - now())), pending, sleep);
        if (!more || more.done) break;
        pending = undefined;
        latest = more.value.length;
        for (const event of more.value) events.push(event);
      }
      yield events;
      folded += events.length;
      const isFull = events.length >= maxEvents;
      if (isFull && now() < committedAt + HIGH_LOAD_INTERVAL_MS && changedBytes() < maxBytes) {
        pending ??= pull(source);
        if (await within(PULL_INTERVAL_MS, pending, sleep)) continue;
      }
      yield "commit";
      const rate = (folded * 1_000) / (now() - committedAt);
      folded = 0;
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
