// The process that the contract of the event store kills: appends without end and says what the store acknowledged.
// Arguments: STREAM URL, or STREAM FOLDER IN_CALLERS_THREAD.
import { openEventStoreDb } from "../../../src/stores/event-store/eventstoredb/event-store.ts";
import { sampleEvents } from "./sample-events.ts";
import { openSqliteLog } from "./sqlite-log.ts";

const [stream = "", place = "", inCallersThread] = process.argv.slice(2);
const store = place.includes("://")
  ? await openEventStoreDb(place)
  : await openSqliteLog(place, inCallersThread === "true");

/** One line a batch on stdout: the revision and the ids that were acknowledged, as JSON. */
for (let revision: number | "none" = "none"; ; ) {
  const events = sampleEvents(3);
  const result = await store.append(stream, revision, events);
  revision = result.revision;
  process.stdout.write(`${JSON.stringify({ revision, ids: events.map(({ id }) => id) })}\n`);
}
