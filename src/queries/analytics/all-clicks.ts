// All clicks of one link that are not withdrawn, read from the log, for exports.
import { type ClickEvent, clicksBetween } from "../../click-log/clicks-between.ts";
import { withdrawalsOf } from "../../click-log/read-withdrawals.ts";
import { isWithdrawnBy } from "../../click-log/withdrawals.ts";
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import { clickFacts } from "../../events/click-facts.ts";
import type { LiveClick } from "./live-clicks.ts";

/** What ties a row of an export to the log. */
type Tie = { eventId: string; position: Position };

export type ExportedClick = LiveClick & Tie;

/** What stands in an export for a click that can't be read. */
export type UnreadableClick = Pick<RecordedEvent, "stream" | "revision" | "recordedAt"> &
  Tie & { unreadable: true };

export type ClickRow = ExportedClick | UnreadableClick;

export function exportedClick({ id, data, position }: ClickEvent): ExportedClick {
  return { ...clickFacts(data), eventId: id, position };
}

export function unreadableClick(recorded: RecordedEvent): UnreadableClick {
  const { id, position, stream, revision, recordedAt } = recorded;
  return { eventId: id, position, stream, revision, recordedAt, unreadable: true };
}

/**
 * Up to the head of the log at the call, in its order but for clicks that can't be read, and are of the link or may be: they
 * come first in each part. `after`: position of LinkCreated, as no click precedes it.
 */
export async function* allClicks(
  { eventStore }: { eventStore: EventStore },
  link: string,
  after: Position,
): AsyncGenerator<ClickRow[]> {
  const upTo = (await eventStore.head()) ?? "";
  if (after >= upTo) return;
  const isWithdrawn = isWithdrawnBy(await withdrawalsOf({ eventStore }, link));
  let unreadable: ClickRow[] = [];
  const onUnreadable = (recorded: RecordedEvent) => void unreadable.push(unreadableClick(recorded));
  for await (const events of clicksBetween({ eventStore }, link, { after, upTo }, onUnreadable)) {
    yield [...unreadable, ...events.map(exportedClick).filter((one) => !isWithdrawn(one))];
    unreadable = [];
  }
}
