// The appending process that event-store.sqlite.test.ts kills; arguments: FILE STREAM OFF_THREAD.
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { appendForEver } from "../support/event-store/append-for-ever.ts";

const [file = "", stream = "", offThread] = process.argv.slice(2);
await appendForEver(await openSqliteEventStore(file, { offThread: offThread === "true" }), stream);
