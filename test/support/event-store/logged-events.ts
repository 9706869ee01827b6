// What a test reads of a log at once: from its start, where it names no other place.
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  START,
  type StoredText,
} from "../../../src/stores/event-store/port.ts";

type Part = {
  after?: Position | undefined;
  from?: Position | undefined;
  categories: readonly string[];
  limit: number;
};

export async function loggedEvents(
  eventStore: Pick<EventStore, "readAll">,
  { after = START, from, ...part }: Part,
): Promise<RecordedEvent[]> {
  const start = from === undefined ? { after } : { from };
  return (await eventStore.readAll({ ...part, ...start })).events;
}

export async function loggedTexts(
  eventStore: Pick<EventStore, "readStored">,
  { after = START, ...part }: Omit<Part, "from">,
): Promise<StoredText[]> {
  return (await eventStore.readStored({ ...part, after })).events;
}
