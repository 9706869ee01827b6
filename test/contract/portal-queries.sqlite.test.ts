// The portal's queries on the embedded read store.
import { join } from "node:path";
import { openSqliteReadStore } from "../../src/stores/read-store/read-store.sqlite.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { linkStatusesContract } from "./link-statuses.ts";
import { portalQueriesContract } from "./portal-queries.ts";

async function open() {
  const folder = await temporaryFolder();
  const store = await openSqliteReadStore(join(folder.path, "read.db"));
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    await folder.remove();
  };
  return store;
}

portalQueriesContract("SQLite", open);
linkStatusesContract("SQLite", open);
