// Takes events from a subscription by number, for tests that look between two batches.
import { expect, onTestFinished } from "vitest";
import type { EventStore, RecordedEvent, SubscribeOptions } from "../../../src/stores/event-store/port.ts";

/** A subscription from which a test takes a number of events; aborted when the test ends. */
export function subscribed(store: EventStore, options: Omit<SubscribeOptions, "signal">) {
  const abort = new AbortController();
  const batches = store.subscribe({ ...options, signal: abort.signal })[Symbol.asyncIterator]();
  let remaining: RecordedEvent[] = [];
  let largest = 0;
  const stop = async () => {
    abort.abort();
    await batches.return?.();
  };
  onTestFinished(stop);
  /** Fewer only when the subscription ended. */
  const take = async (count: number): Promise<RecordedEvent[]> => {
    while (remaining.length < count) {
      const next = await batches.next();
      if (next.done) break;
      expect(next.value.length).toBeGreaterThan(0);
      largest = Math.max(largest, next.value.length);
      remaining = [...remaining, ...next.value];
    }
    const taken = remaining.slice(0, count);
    remaining = remaining.slice(count);
    return taken;
  };
  return { take, stop, largestBatch: () => largest };
}
