// The read store contract on SQLite, in the caller's thread and with a thread of its own for slow calls.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
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

it("reads a collection as empty whose first commit was rolled back", async () => {
  const { readStore, cleanUp } = await open(false);
  try {
    const document = { _id: "a", _position: "1", clicks: 1n };
    const commit = () =>
      readStore.commit({ changed: [{ collection: "fresh", documents: [document] }], checkpoints: {} });
    await expect(commit()).rejects.toThrow("BigInt");
    expect(await readStore.get("fresh", "a")).toBeUndefined();
  } finally {
    await cleanUp();
  }
});
