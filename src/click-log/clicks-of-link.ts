// The clicks of one link between two positions of the log, for recounts, ranges and previews of withdrawals.
import type { EventStore, Position, RecordedEvent } from "../event-store/port.ts";
import type { LinkClicked, StoredEvent } from "../events/catalogue.ts";
import { readEvent } from "../events/read-event.ts";
import { PREFIX } from "../events/streams.ts";

/** A click as it was recorded. */
export type RecordedClick = StoredEvent & LinkClicked;

/** `after` exclusive, undefined for the start of the log; `before` exclusive. */
export type ClickPositions = { after: Position | undefined; before: Position };

/** Bounds memory: one page is held at a time. */
const PAGE = 5_000;

/**
 * In the order of the log, a page at a time. The log has no index by link: clicks of others are read too, and passed
 * over before they are parsed, so a page may be empty. @throws EventUnreadable, StoreUnavailable
 */
export async function* clicksOfLink(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  link: string,
  { after, before }: ClickPositions,
): AsyncGenerator<RecordedClick[]> {
  for (let position = after; position === undefined || position < before; ) {
    const page = await eventStore.readAll({ after: position, prefixes: [PREFIX.clicks], limit: PAGE });
    const clicks: RecordedClick[] = [];
    for (const recorded of page) {
      if (recorded.position >= before) break;
      if (!isOfLink(recorded, link)) continue;
      const event = readEvent(recorded);
      if (event?.type === "LinkClicked") clicks.push(event);
    }
    yield clicks;
    if (page.length < PAGE) return;
    position = page.at(-1)?.position;
  }
}

function isOfLink({ data }: RecordedEvent, link: string): boolean {
  return (data as { link?: string } | null)?.link === link;
}
