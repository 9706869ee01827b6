// Reads a stream page by page, so that parsing and folding a long stream does not block the event loop.
import type { EventStore, RecordedEvent } from "./port.ts";

/** Takes a few milliseconds to parse and fold, even if every event has two URLs of 8,192 characters. */
const PAGE = 250;

/**
 * All events from revision `from` (default: the first) to the end of the stream when the last page is read, at most
 * `limit` a page; none for a missing stream. @throws StoreUnavailable
 */
export async function* streamPages(
  eventStore: Pick<EventStore, "read">,
  stream: string,
  from = 0,
  limit = PAGE,
): AsyncGenerator<RecordedEvent[]> {
  for (let next = from; ; ) {
    const page = await eventStore.read(stream, { from: next, limit });
    const last = page.at(-1);
    if (last) yield page;
    if (!last || page.length < limit) return;
    next = last.revision + 1;
  }
}
