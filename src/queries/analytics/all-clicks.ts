// All clicks of one link that are not withdrawn, read from the log, for exports.
import { clicksBetween } from "../../click-log/clicks-between.ts";
import { withdrawalsOf } from "../../click-log/read-withdrawals.ts";
import { isWithdrawnBy } from "../../click-log/withdrawals.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { clickFacts } from "../../events/click-facts.ts";
import type { LiveClick } from "./live-clicks.ts";

/** In log order, up to the head of the log at the call. `after`: position of LinkCreated, as no click precedes it. */
export async function* allClicks(
  { eventStore }: { eventStore: EventStore },
  link: string,
  after: Position,
): AsyncGenerator<LiveClick[]> {
  const upTo = (await eventStore.head()) ?? "";
  if (after >= upTo) return;
  const isWithdrawn = isWithdrawnBy(await withdrawalsOf({ eventStore }, link));
  for await (const events of clicksBetween({ eventStore }, link, { after, upTo }))
    yield events
      .map(({ data, position }) => ({ ...clickFacts(data), position }))
      .filter((one) => !isWithdrawn(one));
}
