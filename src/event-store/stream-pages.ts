// Reads one stream page by page: however long it is, no thread parses or folds it at one stretch.
import type { EventStore, RecordedEvent } from "./port.ts";

/** Some milliseconds of parsing and folding, also when every event holds two URLs of 2,048 characters. */
const PAGE = 250;

/**
 * All events from revision `from` (default: the first) to the last that is there when its page is read; none for a
 * missing stream. @throws StoreUnavailable
 */
export async function* streamPages(
  eventStore: Pick<EventStore, "read">,
  stream: string,
  from = 0,
): AsyncGenerator<RecordedEvent[]> {
  for (let next = from; ; ) {
    const page = await eventStore.read(stream, { from: next, limit: PAGE });
    const last = page.at(-1);
    if (last) yield page;
    if (!last || page.length < PAGE) return;
    next = last.revision + 1;
  }
}
