// A subscription to the log of a file: catches up, then reads again when something was appended.
import type { EventStore, RecordedEvent, SubscribeOptions } from "../port.ts";
import type { AppendSignal } from "./append-signal.ts";

type FollowDeps = { store: Pick<EventStore, "head" | "readAll">; appended: AppendSignal };

/** Appends of other processes give no signal. */
const POLL_MS = 200;

/** Pull-based: reads only when the consumer requests the next batch. Ends when the signal aborts. */
export async function* follow(
  { store, appended }: FollowDeps,
  { after = "", categories, signal, batchSize: limit = 500 }: SubscribeOptions,
): AsyncGenerator<RecordedEvent[]> {
  let position = after;
  while (!signal.aborted) {
    const signals = appended.count;
    const head = (await store.head()) ?? "";
    if (position < head) {
      const batch = await store.readAll({ after: position || undefined, categories, limit });
      if (signal.aborted) return;
      // Without a matching event the next read starts at the head, so that nothing is searched twice.
      position = batch.at(-1)?.position ?? head;
      if (batch.length > 0) yield batch;
    } else if (appended.count === signals) {
      await appended.next(POLL_MS, signal);
    }
  }
}
