// The index of events on the embedded read store.
import { join } from "node:path";
import { openSqliteReadStore } from "../../src/stores/read-store/read-store.sqlite.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { eventIndexContract } from "./event-index.ts";

eventIndexContract("SQLite", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteReadStore(join(folder.path, "read.db"));
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    await folder.remove();
  };
  return store;
});
