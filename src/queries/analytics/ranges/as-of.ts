// What the log was at an earlier time: its position then, a link as it was, and when its clicks were corrected later.
import type { EventStore, Position } from "../../../event-store/port.ts";
import { streamPages } from "../../../event-store/stream-pages.ts";
import { readEvent } from "../../../events/read-event.ts";
import { PREFIX, withdrawalStream } from "../../../events/streams.ts";
import { type LinkDocument, links } from "../../../projections/definitions/links.ts";

const BATCH = 1_000;

/** `isFinal`: an event was recorded after the time already, so that the position can't change any more. */
export type PositionThen = { position: Position; isFinal: boolean };

/**
 * The position of the last event of a link or a click before the first one that was recorded after the time (ISO 8601
 * UTC); "" when there was none. `after`: a position before that; all events after it are read.
 * @throws what the store throws
 */
export async function positionAt(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  time: string,
  after: Position | undefined,
): Promise<PositionThen> {
  const prefixes = [PREFIX.clicks, PREFIX.link, PREFIX.withdrawals];
  for (let position = after ?? ""; ; ) {
    const events = await eventStore.readAll({ after: position || undefined, prefixes, limit: BATCH });
    if (events.length === 0) return { position, isFinal: false };
    for (const event of events) {
      if (event.recordedAt > time) return { position, isFinal: true };
      position = event.position;
    }
  }
}

/** The link after its events up to the position, also a deleted one; undefined before it was created. */
export async function linkAsOf(
  { eventStore }: { eventStore: Pick<EventStore, "read"> },
  key: string,
  upTo: Position,
): Promise<LinkDocument | undefined> {
  let link: LinkDocument | undefined;
  for await (const page of streamPages(eventStore, `${PREFIX.link}${key}`))
    for (const recorded of page) {
      if (recorded.position > upTo) return link;
      const event = readEvent(recorded);
      if (!event) continue;
      const { position: _position } = recorded;
      link = { ...links.evolve(link ?? links.empty(event), event), _id: key, _position };
    }
  return link;
}

/** Position of the first withdrawal of the link's clicks, or end of one, after the position; undefined for none. */
export async function firstCorrectionAfter(
  { eventStore }: { eventStore: Pick<EventStore, "read"> },
  link: string,
  after: Position,
): Promise<Position | undefined> {
  for await (const page of streamPages(eventStore, withdrawalStream(link))) {
    const later = page.find(({ position }) => position > after);
    if (later) return later.position;
  }
  return undefined;
}
