// Appends to the end of a stream, wherever it is, for tests that don't care.
import type { AppendResult, EventStore, NewEvent } from "../../../src/stores/event-store/port.ts";

export async function appendNext(
  store: Pick<EventStore, "append" | "read">,
  stream: string,
  events: readonly NewEvent[],
): Promise<AppendResult> {
  const [last] = await store.read(stream, { backwards: true, limit: 1 });
  return await store.append(stream, last?.revision ?? "none", events);
}
