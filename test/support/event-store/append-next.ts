// Appends to the end of a stream, wherever it is and whoever else appends to it, for tests that don't care.
import {
  type AppendResult,
  type EventStore,
  type NewEvent,
  RevisionConflict,
} from "../../../src/stores/event-store/port.ts";

const MOST_TRIES = 5;

/** As a command does, it reads again where another has appended in between. */
export async function appendNext(
  store: Pick<EventStore, "append" | "read">,
  stream: string,
  events: readonly NewEvent[],
): Promise<AppendResult> {
  for (let attempt = 1; ; attempt++) {
    const [last] = await store.read(stream, { backwards: true, limit: 1 });
    try {
      return await store.append(stream, last?.revision ?? "none", events);
    } catch (error) {
      if (!(error instanceof RevisionConflict) || attempt === MOST_TRIES) throw error;
    }
  }
}
