// Events that given accounts caused; comparing heads is not enough when other tests write to the same store.

import { CATEGORY } from "../../../src/events/streams.ts";
import { logPages } from "../../../src/stores/event-store/log-pages.ts";
import type { EventStore, Position } from "../../../src/stores/event-store/port.ts";

const BATCH = 1_000;

/** `<type> <stream>` of each event of the accounts after the position `after`. */
export async function writtenBy(
  eventStore: EventStore,
  accountIds: readonly string[],
  after: Position,
): Promise<string[]> {
  const found: string[] = [];
  const part = { after, categories: Object.values(CATEGORY), limit: BATCH };
  for await (const { events } of logPages(eventStore, part))
    for (const { type, stream, data } of events)
      if (accountIds.includes((data as { accountId: string }).accountId)) found.push(`${type} ${stream}`);
  return found;
}
