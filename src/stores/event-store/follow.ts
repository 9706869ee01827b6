// A subscription for a store without push: catches up, then reads again after local appends and at a poll interval.
import type { Position, RecordedEvent } from "./port.ts";

export type PolledStore = {
  readAll(after: Position | undefined): Promise<RecordedEvent[]>;
  head(): Promise<Position | undefined>;
  /** Listeners, which the store calls after each append made through it. */
  wakes: Set<() => void>;
  /** Poll interval for appends of other processes, in milliseconds. */
  pollMs: number;
};

/** Pull-based: reads only when the consumer requests the next batch. Ends when the signal aborts. */
export async function* follow(
  store: PolledStore,
  after: Position | undefined,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent[]> {
  let position = after ?? "";
  while (!signal.aborted) {
    const poll = nextPoll(store, signal);
    try {
      const head = (await store.head()) ?? "";
      if (position < head) {
        const batch = await store.readAll(position || undefined);
        if (signal.aborted) return;
        // Without a matching event the next read starts at the head, so that nothing is searched twice.
        position = batch.at(-1)?.position ?? head;
        if (batch.length > 0) yield batch;
      } else {
        await poll.due;
      }
    } finally {
      poll.cancel();
    }
  }
}

/** Registered before the store is read, so that an append between the read and the wait is not missed. */
function nextPoll(
  { wakes, pollMs }: PolledStore,
  signal: AbortSignal,
): { due: Promise<void>; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const timer = setTimeout(wake, pollMs);
  wakes.add(wake);
  signal.addEventListener("abort", wake);
  const cancel = () => {
    clearTimeout(timer);
    wakes.delete(wake);
    signal.removeEventListener("abort", wake);
  };
  return { due: promise, cancel };
}
