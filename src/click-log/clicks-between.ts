// The clicks of one link between two log positions, for exports, recounts and the parts of days that ranges begin with.
import { logPages } from "../event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../event-store/port.ts";
import type { LinkClicked, StoredEvent } from "../events/catalogue.ts";
import { readEvent } from "../events/read-event.ts";
import { CATEGORY } from "../events/streams.ts";

export type ClickEvent = StoredEvent & LinkClicked;

/** After a position ("" for the start of the log), or from that of an event on; `upTo` is inclusive. */
export type LogRange = { upTo: Position } & ({ after: Position } | { from: Position });

/** Bounds the memory of a reader, which holds a few batches at a time. */
const BATCH = 2_000;

/**
 * In log order. The log has no index by link, so all clicks of the range are read and filtered; a batch may be empty.
 * Clicks that this version can't read are left out: projections stop at them.
 */
export async function* clicksBetween(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  link: string,
  range: LogRange,
): AsyncGenerator<ClickEvent[]> {
  const part = { ...range, categories: [CATEGORY.clicks], limit: BATCH };
  for await (const events of logPages(eventStore, part))
    yield events.flatMap((event) => clickOf(event, link));
}

/** Compares the link before the data is validated, as most clicks are of others. */
function clickOf(recorded: RecordedEvent, link: string): ClickEvent[] {
  if ((recorded.data as { link?: unknown } | null)?.link !== link) return [];
  try {
    const event = readEvent(recorded);
    return event?.type === "LinkClicked" ? [event] : [];
  } catch {
    return [];
  }
}
