// Takes events from a subscription by number, for tests that look between two batches.
import { expect, onTestFinished } from "vitest";
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  START,
  type SubscribeOptions,
} from "../../../src/stores/event-store/port.ts";

/** A subscription from which a test takes a number of events; aborted when the test ends. */
export function subscribed(
  store: EventStore,
  {
    after = START,
    ...options
  }: Omit<SubscribeOptions, "signal" | "after"> & { after?: Position | undefined },
) {
  const abort = new AbortController();
  const batches = store.subscribe({ ...options, after, signal: abort.signal })[Symbol.asyncIterator]();
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
      const { events } = next.value;
      expect(next.value.next >= (events.at(-1)?.position ?? START)).toBe(true);
      largest = Math.max(largest, events.length);
      remaining = [...remaining, ...events];
    }
    const taken = remaining.slice(0, count);
    remaining = remaining.slice(count);
    return taken;
  };
  return { take, stop, largestBatch: () => largest };
}
