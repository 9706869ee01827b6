// The process that the EventStoreDB contract kills: CONNECTION_STRING STREAM.
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { appendForEver } from "../support/event-store/append-for-ever.ts";

const [connectionString = "", stream = ""] = process.argv.slice(2);
await appendForEver(await openEventStoreDb(connectionString), stream);
