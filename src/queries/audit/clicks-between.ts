// The clicks of one link between two log positions, for proofs and withdrawals.

import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import type { ClickEvent } from "../analytics/counting/list-rows.ts";

type OnUnreadable = (recorded: RecordedEvent, error: Error) => void;

/** Bounds the memory of a reader, which holds a few batches at a time, and for how long a read keeps its thread. */
const BATCH = 1_000;

/**
 * In log order, up to `upTo`, inclusive. The log has no index by link, so all clicks of the range are read and filtered; a batch may
 * be empty. `onUnreadable`: told of each event that can't be read and that is of the link, or may be. @throws EventNewer
 */
export async function* clicksBetween(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  link: string,
  range: { after: Position; upTo: Position },
  onUnreadable: OnUnreadable = () => undefined,
): AsyncGenerator<ClickEvent[]> {
  const part = { ...range, categories: [CATEGORY.clicks], limit: BATCH };
  for await (const { events } of logPages(eventStore, part))
    yield events.flatMap((recorded) => {
      // Before the data is validated, as most clicks are of others.
      if ((linkOf(recorded) ?? link) !== link) return [];
      const event = readableEvent(recorded, onUnreadable);
      return event?.type === "LinkClicked" ? [event] : [];
    });
}

/** The link that the event says it is a click of; undefined for one that doesn't say so. */
export function linkOf({ data }: RecordedEvent): string | undefined {
  const link = (data as { link?: unknown } | null)?.link;
  return typeof link === "string" ? link : undefined;
}
