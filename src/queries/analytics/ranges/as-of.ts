// What the log was at an earlier time: its position then, and when a link's clicks were corrected later.
import { logPages } from "../../../event-store/log-pages.ts";
import type { EventStore, Position } from "../../../event-store/port.ts";
import { streamPages } from "../../../event-store/stream-pages.ts";
import { CATEGORY, withdrawalStream } from "../../../events/streams.ts";

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
  const categories = [CATEGORY.clicks, CATEGORY.link, CATEGORY.withdrawals];
  let position = after ?? "";
  for await (const events of logPages(eventStore, { after, categories, limit: BATCH }))
    for (const event of events) {
      if (event.recordedAt > time) return { position, isFinal: true };
      position = event.position;
    }
  return { position, isFinal: false };
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
