// What a process does that will be killed: appends without end and says what the store acknowledged.
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { sampleEvents } from "./sample-events.ts";

/** One line a batch on stdout: the revision and the ids that were acknowledged, as JSON. */
export async function appendForEver(store: EventStore, stream: string): Promise<never> {
  let revision: number | "none" = "none";
  while (true) {
    const events = sampleEvents(3);
    const result = await store.append(stream, revision, events);
    revision = result.revision;
    process.stdout.write(`${JSON.stringify({ revision, ids: events.map(({ id }) => id) })}\n`);
  }
}
