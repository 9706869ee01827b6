// Reads every event of the store as it is stored, so that seals, verification and export see the same log.
import type { EventStore, Position, StoredText } from "../stores/event-store/port.ts";

const PAGE = 2_000;

/** A page may be empty. @throws StoreUnavailable */
export async function* storedPages(eventStore: Pick<EventStore, "readStored">): AsyncGenerator<StoredText[]> {
  for (let after: Position | undefined; ; ) {
    const page = await eventStore.readStored({ after, limit: PAGE });
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.position;
  }
}
