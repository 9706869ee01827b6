// The read store contract on SQLite, in the caller's thread and with a thread of its own for slow calls.
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { openSqliteReadStore } from "../../src/stores/read-store/sqlite/read-store.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { readStoreContract } from "./read-store.ts";

const open = async (offThread: boolean) => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "read.db");
  const readStore = await openSqliteReadStore(file, { offThread });
  return {
    readStore,
    file,
    reopen: () => openSqliteReadStore(file, { offThread }),
    async cleanUp() {
      await readStore.close();
      await folder.remove();
    },
  };
};

readStoreContract("SQLite in the caller's thread", () => open(false));
readStoreContract("SQLite with a thread of its own", () => open(true));

it.each([true, false])(
  "is unavailable while pages of its file can't be read (a thread of its own: %s)",
  async (offThread) => {
    const { readStore, file, reopen, cleanUp } = await open(offThread);
    const writer = await reopen();
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown) => void uncaught.push(error);
    process.on("uncaughtException", onUncaught);
    try {
      await readStore.ensure([{ name: "notes", indexes: [] }]);
      const text = "x".repeat(500);
      const notes = Array.from({ length: 500 }, (_, n) => ({ _id: `${n}`, _position: "1", text }));
      await writer.write({ documents: [{ collection: "notes", documents: notes }] });
      await readStore.get("notes", "0");
      await setImmediate();
      await truncate(`${file}-wal`, 3 * 4096);
      const unavailable = { code: "store_unavailable", message: expect.stringContaining("disk I/O error") };
      const getting = () => readStore.get("notes", "450");
      await expect(getting()).rejects.toMatchObject(unavailable);
      await expect(readStore.getMany("notes", ["450"])).rejects.toMatchObject(unavailable);
      await expect(readStore.find("notes", { limit: 100 })).rejects.toMatchObject(unavailable);
      await expect(readStore.count("notes", { where: { text: "" } })).rejects.toMatchObject(unavailable);
      await setImmediate();
      await expect(getting()).rejects.toMatchObject(unavailable);
      await setImmediate();
      expect(uncaught).toEqual([]);
    } finally {
      process.off("uncaughtException", onUncaught);
      await writer.close();
      await cleanUp();
    }
  },
);
