// A subscription to the log of a file: catches up, then reads again when something was appended.
import type { EventStore, PageAsRead, ReadAllOptions, SubscribeOptions } from "../port.ts";
import type { AppendSignal } from "./append-signal.ts";
import { numberOf } from "./read-log.ts";

type FollowDeps = {
  head: EventStore["head"];
  readPage(options: ReadAllOptions): Promise<PageAsRead>;
  appendSignal: Pick<AppendSignal, "listen">;
};

/** Appends of other processes give no signal. */
const POLL_MS = 200;

/** Pull-based: reads only when the consumer requests the next page. Ends when the signal aborts. @throws invalid_position */
export async function* follow(
  { head, readPage, appendSignal }: FollowDeps,
  { after, categories, signal, batchSize: limit = 500 }: SubscribeOptions,
): AsyncGenerator<PageAsRead> {
  numberOf(after);
  let position = after;
  const appended = appendSignal.listen(categories);
  try {
    while (!signal.aborted) {
      if (position < (await head())) {
        const page = await readPage({ after: position, categories, limit });
        if (signal.aborted) return;
        position = page.next;
        yield page;
      } else {
        await appended.next(POLL_MS, signal);
      }
    }
  } finally {
    appended.close();
  }
}
