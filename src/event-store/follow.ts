// A subscription over a store that can only be asked: catch up, then look again when woken or when time is up.
import type { Position, RecordedEvent } from "./port.ts";

export type Followed = {
  readAll(after: Position | undefined): Promise<RecordedEvent[]>;
  head(): Promise<Position | undefined>;
  /** Called after each append made through this store. */
  wakes: Set<() => void>;
  /** Milliseconds between looks for what other processes appended. */
  pollMs: number;
};

/** Pull-based: nothing is read before the consumer asks for the next batch. Ends when the signal aborts. */
export async function* follow(
  store: Followed,
  after: Position | undefined,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent[]> {
  let position = after ?? "";
  while (!signal.aborted) {
    const look = nextLook(store, signal);
    try {
      const head = (await store.head()) ?? "";
      if (position < head) {
        const batch = await store.readAll(position || undefined);
        if (signal.aborted) return;
        // Nothing of ours up to the head: the next look starts there instead of searching it all again.
        position = batch.at(-1)?.position ?? head;
        if (batch.length > 0) yield batch;
      } else {
        await look.due;
      }
    } finally {
      look.cancel();
    }
  }
}

/** Listening starts before the store is read, so that an append between the two isn't slept through. */
function nextLook({ wakes, pollMs }: Followed, signal: AbortSignal): { due: Promise<void>; cancel(): void } {
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
