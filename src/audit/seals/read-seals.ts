// Reads the stream of seals in pages, as a seal is a hundred kilobytes.

import { SEALS_STREAM } from "../../events/streams.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";

const PAGE = 20;

export type SealReader = Pick<EventStore, "read">;

/** Newest first. `upTo`: number of the first one, inclusive; the newest of all by default. */
export async function* sealsBackwards(
  eventStore: SealReader,
  upTo?: number | undefined,
): AsyncGenerator<RecordedEvent> {
  let from = upTo;
  for (;;) {
    const options = { backwards: true, limit: PAGE, ...(from === undefined ? {} : { from }) };
    const page = await eventStore.read(SEALS_STREAM, options);
    yield* page;
    const oldest = page.at(-1)?.revision ?? 0;
    if (oldest === 0) return;
    from = oldest - 1;
  }
}

/** From seal `from` on. */
export async function* sealsForwards(eventStore: SealReader, from = 0): AsyncGenerator<RecordedEvent> {
  for await (const page of streamPages(eventStore, SEALS_STREAM, from, PAGE)) yield* page;
}
