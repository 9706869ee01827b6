// The read store contract on SQLite.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteReadStore } from "../../src/read-store/sqlite.ts";
import { readStoreContract } from "./read-store.ts";

readStoreContract("SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "read-store-"));
  const file = join(folder, "read.db");
  const readStore = await openSqliteReadStore(file);
  return {
    readStore,
    reopen: () => openSqliteReadStore(file),
    async cleanUp() {
      await readStore.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
