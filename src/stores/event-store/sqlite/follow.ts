// A subscription to the log of a file: catches up, then reads again when something was appended.
import type { EventStore, LogPage, SubscribeOptions } from "../port.ts";
import type { AppendSignal } from "./append-signal.ts";
import { numberOf } from "./read-log.ts";

type FollowDeps = { store: Pick<EventStore, "head" | "readAll">; appended: AppendSignal };

/** Appends of other processes give no signal. */
const POLL_MS = 200;

/** Pull-based: reads only when the consumer requests the next page. Ends when the signal aborts. @throws invalid_position */
export async function* follow(
  { store, appended }: FollowDeps,
  { after, categories, signal, batchSize: limit = 500 }: SubscribeOptions,
): AsyncGenerator<LogPage> {
  numberOf(after);
  let position = after;
  while (!signal.aborted) {
    const signals = appended.count;
    if (position < (await store.head())) {
      const page = await store.readAll({ after: position, categories, limit });
      if (signal.aborted) return;
      position = page.next;
      yield page;
    } else if (appended.count === signals) {
      await appended.next(POLL_MS, signal);
    }
  }
}
