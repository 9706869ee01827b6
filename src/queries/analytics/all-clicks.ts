// All clicks of one link, read from the log, for exports.
import type { EventStore, Position } from "../../event-store/port.ts";
import { PREFIX } from "../../events/streams.ts";
import { type LiveClick, ofLink } from "./live-clicks.ts";

/** Bounds an export's memory, which holds a few batches at a time. */
const BATCH = 500;

/**
 * In log order, up to the head of the log at the call. The log has no index by link, so all clicks are read and filtered;
 * a batch may be empty. `after`: position of LinkCreated, as no click precedes it.
 */
export async function* allClicks(
  { eventStore }: { eventStore: EventStore },
  link: string,
  after: Position,
): AsyncGenerator<LiveClick[]> {
  const head = (await eventStore.head()) ?? "";
  for (let position = after; position < head; ) {
    const events = await eventStore.readAll({ after: position, prefixes: [PREFIX.clicks], limit: BATCH });
    position = events.at(-1)?.position ?? head;
    yield events.filter((event) => event.position <= head).flatMap((event) => ofLink(event, link));
  }
}
