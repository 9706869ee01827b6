// Joins batches of a subscription to those that are committed together: when the commit interval is over, or at a maximum.

import { inTime, type MonotonicClock, systemClock } from "../../runtime/pause.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";

/**
 * Events are read in pages of `pageEvents`, and `maxEvents` are committed together, or up to a page more. Else a commit is
 * due `commitIntervalMs` after the end of the last one.
 */
export type CommitRules = { pageEvents: number; maxEvents: number; commitIntervalMs: number };

/** Clicks show within a second, also where a commit takes a third of it; a document is written three times a second. */
export const COMMIT_RULES: CommitRules = { pageEvents: 20_000, maxEvents: 40_000, commitIntervalMs: 300 };

/**
 * At this rate the interval is two seconds, as documents that many events change are then written less often. By rate,
 * not by the events of one commit: after a long commit the next one has many at any rate.
 */
const HIGH_LOAD_EVENTS_A_SECOND = 8_000;
const HIGH_LOAD_INTERVAL_MS = 2_000;
/** After a batch of fewer events the next pull waits, so that events are read in larger batches. */
const SMALL_BATCH_EVENTS = 1_000;
const PULL_INTERVAL_MS = 100;
/** After so long without an event the consumer may move its checkpoint past those of other streams. */
const IDLE_MS = 60_000;

type Batches = AsyncIterator<RecordedEvent[]>;

/**
 * Yields the events of each commit, which the consumer makes before it asks for the next one. An event that arrives after
 * the interval is yielded immediately, so that it is not delayed under low load. A backlog, which fills whole pages, is
 * yielded up to the maximum of events without a pause. After a minute without an event no events are yielded. Ends with the
 * subscription, which `signal` ends.
 * @throws what the subscription throws
 */
export async function* commitBatches(
  subscribe: (signal: AbortSignal) => AsyncIterable<RecordedEvent[]>,
  { pageEvents, maxEvents, commitIntervalMs }: CommitRules,
  signal: AbortSignal,
  { now, sleep }: MonotonicClock = systemClock,
): AsyncGenerator<RecordedEvent[]> {
  const left = new AbortController();
  const source = subscribe(AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]();
  let pending: ReturnType<Batches["next"]> | undefined;
  let dueAt = Number.NEGATIVE_INFINITY;
  let takenAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      pending ??= pull(source);
      const first = await inTime(IDLE_MS, pending, sleep);
      if (!first) {
        yield [];
        continue;
      }
      pending = undefined;
      if (first.done) return;
      const events = first.value;
      let latest = events.length;
      // After the end of high load there is nothing to wait for; a backlog comes in whole pages.
      const waitMs = () =>
        latest < pageEvents ? Math.min(commitIntervalMs, Math.max(0, dueAt - now())) : PULL_INTERVAL_MS;
      while (events.length < maxEvents && waitMs() > 0) {
        if (latest < SMALL_BATCH_EVENTS) await sleep(Math.min(PULL_INTERVAL_MS, waitMs()), signal);
        pending ??= pull(source);
        const more = await inTime(waitMs(), pending, sleep);
        if (!more || more.done) break;
        pending = undefined;
        latest = more.value.length;
        for (const event of more.value) events.push(event);
      }
      // They have come since the last ones were taken, also those that came while these were committed.
      const rate = (events.length * 1_000) / (now() - takenAt);
      takenAt = now();
      yield events;
      const pauseMs =
        rate < HIGH_LOAD_EVENTS_A_SECOND
          ? commitIntervalMs
          : Math.max(commitIntervalMs, HIGH_LOAD_INTERVAL_MS);
      dueAt = now() + (events.length >= maxEvents ? 0 : pauseMs);
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
