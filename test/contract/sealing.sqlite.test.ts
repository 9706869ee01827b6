// Sealing on the embedded event store.
import { join } from "node:path";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { sealingContract } from "./sealing.ts";

sealingContract("sqlite", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(join(folder.path, "events.db"));
  return {
    store,
    async close() {
      await store.close();
      await folder.remove();
    },
  };
});
