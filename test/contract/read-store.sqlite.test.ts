// The read store contract on SQLite, in the caller's thread and with a thread of its own for slow calls.
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import type { Document } from "../../src/stores/read-store/port.ts";
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

it("writes the same in a thread when the caller goes on meanwhile, and tells when it can't", async () => {
  const { readStore, reopen, cleanUp } = await open(false);
  const another = await reopen();
  const spec = { name: "counts", indexes: [["owner", "size"]], columns: ["owner", "size"] };
  const count = (n: number, size: number) => {
    return { _id: `${n}`, _position: `${size}`, owner: n % 2 ? "a" : null, size, text: `é€😀 "${n}"` };
  };
  const inThread = async (size: number) => {
    const documents = Array.from({ length: 500 }, (_, n) => count(n, size));
    // Larger than what the thread got before.
    const large = [{ ...count(0, size), text: "é".repeat(size * 1_000_000) }];
    const batch = readStore.writeBatch();
    batch.add("counts", documents.slice(0, 300));
    batch.add("large", large);
    batch.add("counts", documents.slice(300));
    await batch.write({ checkpoints: {}, isMeanwhile: true });
    expect(
      await readStore.find("counts", { limit: 1_000, sort: { field: "size", direction: "asc" } }),
    ).toEqual(documents.toSorted((a, b) => (a._id < b._id ? -1 : 1)));
    expect(await another.get("large", "0")).toEqual(large[0]);
    expect(await another.count("counts", { where: { owner: null, size } })).toBe(250);
  };
  try {
    await readStore.ensure([spec]);
    for (const size of [1, 3, 4]) await inThread(size);
    const meanwhile = (collection: string, document: Document) => {
      const batch = readStore.writeBatch();
      batch.add(collection, [document]);
      return batch.write({ checkpoints: {}, isMeanwhile: true });
    };
    await Promise.all(["one", "two", "three"].map((collection, n) => meanwhile(collection, count(n, n))));
    for (const [n, collection] of ["one", "two", "three"].entries())
      expect(await another.get(collection, `${n}`)).toEqual(count(n, n));
    const late = () => meanwhile("counts", { ...count(7, 2), text: "older" } as Document);
    await late();
    expect(await another.get("counts", "7")).toEqual(count(7, 4));
    await another.drop("counts");
    await expect(late()).rejects.toThrow(StoreUnavailable);
  } finally {
    await another.close();
    await cleanUp();
  }
});

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
      await writer.replace("notes", notes);
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
