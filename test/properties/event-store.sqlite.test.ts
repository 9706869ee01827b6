// The properties of every event store, of the SQLite adapter: clicks, whose bodies are compressed, and other streams.
import { join } from "node:path";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { eventStoreProperties } from "./event-store.ts";

eventStoreProperties("SQLite", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(join(folder.path, "events.db"));
  const close = async () => {
    await store.close();
    await folder.remove();
  };
  return { store, prefix: "", close };
});
