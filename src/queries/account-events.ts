// Everything the log knows of one account, in its order: what "export my data" hands out.
import type { EventStore, RecordedEvent } from "../event-store/port.ts";
import { accountStream, PREFIX } from "../events/streams.ts";

/** Also the most that an export holds in memory, several times over on its way to the client. */
const PAGE = 500;

/**
 * From the account's opening to what was the end of the log when it began: account, domains, links and clicks. Clicks
 * share streams with those of others, so all that was written since the opening is read once; a page may be empty.
 */
export async function* accountEvents(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll" | "head"> },
  accountId: string,
): AsyncGenerator<RecordedEvent[]> {
  const [opening] = await eventStore.read(accountStream(accountId), { limit: 1 });
  const end = await eventStore.head();
  if (!opening || end === undefined) return;
  yield [opening];
  for (let after = opening.position; ; ) {
    const events = await eventStore.readAll({ after, prefixes: Object.values(PREFIX), limit: PAGE });
    const own = events.filter(({ position, data }) => position <= end && ownerOf(data) === accountId);
    yield own;
    const last = events.at(-1);
    if (!last || events.length < PAGE || last.position >= end) return;
    after = last.position;
  }
}

function ownerOf(data: unknown): unknown {
  return (data as { accountId?: unknown } | null)?.accountId;
}
