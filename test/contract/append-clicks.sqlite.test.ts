import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { appendClicksContract } from "./append-clicks.ts";

appendClicksContract("SQLite", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(`${folder.path}/events.db`);
  return {
    store,
    async close() {
      await store.close();
      await folder.remove();
    },
  };
});
