// All events of one account in log order, for "export my data".
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import { accountStream, CATEGORY } from "../../events/streams.ts";

/** Bounds an export's memory, which holds a few pages at a time. */
const PAGE = 500;

/**
 * Events of account, domains, links and clicks, or of fewer categories, from AccountOpened to the head of the log at the
 * call. Reads the whole log of that time and filters it, because clicks of all accounts share streams; a page may be
 * empty.
 */
export async function* accountEvents(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll" | "head"> },
  accountId: string,
  categories: readonly string[] = Object.values(CATEGORY),
): AsyncGenerator<RecordedEvent[]> {
  const [first] = await eventStore.read(accountStream(accountId), { limit: 1 });
  const upTo = await eventStore.head();
  if (!first || upTo === undefined) return;
  yield [first];
  const part = { after: first.position, upTo, categories, limit: PAGE };
  for await (const events of logPages(eventStore, part))
    yield events.filter((event) => ownerOf(event) === accountId);
}

/** The account that the event belongs to; undefined for events of no account. */
export function ownerOf({ data }: Pick<RecordedEvent, "data">): string | undefined {
  return (data as { accountId?: string } | null)?.accountId;
}
