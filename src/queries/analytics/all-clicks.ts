// Every click of one link, straight from the log: what an export is made of.
import type { EventStore, Position } from "../../event-store/port.ts";
import { PREFIX } from "../../events/streams.ts";
import { type LiveClick, ofLink } from "./live-clicks.ts";

/** Also the most that an export holds in memory, several times over on its way to the client. */
const BATCH = 500;

/**
 * In the order of the log, up to its end as of this call; a batch may be empty, as the log has no index by link.
 * `after`: where the link was made, as no click is before it.
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
