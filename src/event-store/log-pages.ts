// Reads a part of the log page by page, so that a reader of a long part holds one page at a time.
import type { EventStore, Position, ReadAllOptions, RecordedEvent } from "./port.ts";

/** Sorts behind every position. */
const LAST = "~";

/** `upTo` is inclusive, and by default the end of the log; `after` may be "" for its start. */
export type LogPart = Omit<ReadAllOptions, "after"> & {
  after?: Position | undefined;
  upTo?: Position | undefined;
};

/** In the order of the log; `limit` is of a page. A page may be empty. @throws StoreUnavailable */
export async function* logPages(
  eventStore: Pick<EventStore, "readAll">,
  { upTo = LAST, after, from, ...options }: LogPart,
): AsyncGenerator<RecordedEvent[]> {
  let start: Pick<ReadAllOptions, "after" | "from"> =
    from === undefined ? { after: after || undefined } : { from };
  for (let last = after ?? ""; last < upTo; start = { after: last }) {
    const page = await eventStore.readAll({ ...start, ...options });
    last = page.at(-1)?.position ?? upTo;
    yield last > upTo ? page.filter(({ position }) => position <= upTo) : page;
    // With `mentions` events are left out, and a short page may have more behind it.
    if (page.length < options.limit && options.mentions === undefined) return;
  }
}
