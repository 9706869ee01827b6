// Reads a part of the log page by page, so that a reader of a long part holds one page at a time.
import type { EventStore, Position, ReadAllOptions, RecordedEvent } from "./port.ts";

/** `upTo` is inclusive; `after` may be "" for the start of the log. */
export type LogPart = Omit<ReadAllOptions, "after"> & { after?: Position | undefined; upTo: Position };

/** In the order of the log; `limit` is of a page. A page may be empty. @throws StoreUnavailable */
export async function* logPages(
  eventStore: Pick<EventStore, "readAll">,
  { upTo, after, from, ...options }: LogPart,
): AsyncGenerator<RecordedEvent[]> {
  let start: Pick<ReadAllOptions, "after" | "from"> =
    from === undefined ? { after: after || undefined } : { from };
  for (let last = after ?? ""; last < upTo; start = { after: last }) {
    const page = await eventStore.readAll({ ...start, ...options });
    last = page.at(-1)?.position ?? upTo;
    yield last > upTo ? page.filter(({ position }) => position <= upTo) : page;
  }
}
