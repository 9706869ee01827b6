// Reads every event of the service as it is stored, so that seals, verification and export see the same log.
import { ALL_CATEGORIES } from "../events/streams.ts";
import { type EventStore, type LogPage, START, type StoredText } from "../stores/event-store/port.ts";

const PAGE = 2_000;

/** A page may be empty. @throws StoreUnavailable */
export async function* storedPages(
  eventStore: Pick<EventStore, "readStored">,
): AsyncGenerator<LogPage<StoredText>> {
  for (let after = START; ; ) {
    const page = await eventStore.readStored({ after, categories: ALL_CATEGORIES, limit: PAGE });
    yield page;
    if (page.events.length < PAGE) return;
    after = page.next;
  }
}
