// The read store contract on SQLite, in the caller's thread and with a thread of its own for slow calls.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteReadStore } from "../../src/read-store/sqlite/read-store.ts";
import { readStoreContract } from "./read-store.ts";

const open = async (offThread: boolean) => {
  const folder = await mkdtemp(join(tmpdir(), "read-store-"));
  const file = join(folder, "read.db");
  const readStore = await openSqliteReadStore(file, { offThread });
  return {
    readStore,
    reopen: () => openSqliteReadStore(file, { offThread }),
    async cleanUp() {
      await readStore.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

readStoreContract("SQLite in the caller's thread", () => open(false));
readStoreContract("SQLite with a thread of its own", () => open(true));
