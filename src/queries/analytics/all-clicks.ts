// All clicks of one link, read from the log, for exports.

import { clicksBetween } from "../../click-log/clicks-between.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import type { LiveClick } from "./live-clicks.ts";

/** In log order, up to the head of the log at the call. `after`: position of LinkCreated, as no click precedes it. */
export async function* allClicks(
  { eventStore }: { eventStore: EventStore },
  link: string,
  after: Position,
): AsyncGenerator<LiveClick[]> {
  const upTo = (await eventStore.head()) ?? "";
  if (after >= upTo) return;
  for await (const events of clicksBetween({ eventStore }, link, { after, upTo }))
    yield events.map(({ data, position }) => ({ ...data, position }));
}
