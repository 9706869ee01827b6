// The read store contract on SQLite, in the caller's thread and with a thread of its own for slow calls.
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { StoreUnavailable } from "../../src/connections/errors.ts";
import { links } from "../../src/projections/definitions/links.ts";
import type { Checkpoint, Document } from "../../src/read-store/port.ts";
import { conditions } from "../../src/read-store/sqlite/query.ts";
import { openSqliteReadStore } from "../../src/read-store/sqlite/read-store.ts";
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

it("shows the lookups of one task of the event loop one state of the file, and those of the next the newest", async () => {
  const { readStore, file, cleanUp } = await open(true);
  const writer = new DatabaseSync(file);
  const put = (id: string, text: string) => {
    const doc = JSON.stringify({ _id: id, _position: "1", text });
    writer.prepare("INSERT OR REPLACE INTO docs_notes (_id, position, doc) VALUES (?, '1', ?)").run(id, doc);
  };
  const textOf = async (id: string) => (await readStore.get<Document & { text: string }>("notes", id))?.text;
  try {
    await readStore.ensure([{ name: "notes", indexes: [] }]);
    put("a", "old");
    put("b", "old");
    await setImmediate();
    const first = textOf("a");
    put("b", "new");
    expect(await Promise.all([first, textOf("b"), textOf("b")])).toEqual(["old", "old", "old"]);
    await setImmediate();
    expect(await textOf("b")).toBe("new");
    // A collection that has to be made, as it is read for the first time, ends what they share.
    expect(await Promise.all([textOf("a"), readStore.get("fresh", "a"), textOf("b")])).toEqual([
      ...["old", undefined, "new"],
    ]);
    await setImmediate();
    // Nobody reads any more: otherwise the file beside the database could not be emptied.
    expect(writer.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0, log: 0 });
  } finally {
    writer.close();
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

it("refuses what is no name for a collection as an error of its own", async () => {
  const { readStore, cleanUp } = await open(true);
  onTestFinished(cleanUp);
  await expect(readStore.get("no name", "a")).rejects.toMatchObject({ code: "bad_name" });
});

it("reads a collection as empty whose first commit was rolled back", async () => {
  const { readStore, cleanUp } = await open(false);
  try {
    const batch = readStore.writeBatch();
    batch.add("fresh", [{ _id: "a", _position: "1" }]);
    const checkpoint = { position: 1n } as unknown as Checkpoint;
    await expect(batch.write({ checkpoints: { "p:1": checkpoint } })).rejects.toThrow("BigInt");
    expect(await readStore.get("fresh", "a")).toBeUndefined();
  } finally {
    await cleanUp();
  }
});

it("finds a link of a domain by an index that has no links of the default host", async () => {
  const { readStore, file, cleanUp } = await open(false);
  const db = new DatabaseSync(file);
  try {
    await readStore.ensure([links.collection]);
    const ofDefault = { _id: "sho.rt/a", _position: "1", slug: "a", domainId: null };
    const ofDomain = { _id: "my.example/a", _position: "2", slug: "a", domainId: "d", accountId: "b" };
    await readStore.replace("links", [ofDefault, ofDomain]);
    const onDomains = { range: { field: "domainId", from: "" } };
    for (const where of [{ slug: "a" }, { slug: "a", domainId: "d" }, { slug: "a", accountId: "b" }]) {
      const { sql, values } = conditions({ where, ...onDomains }, []);
      const [step] = db.prepare(`EXPLAIN QUERY PLAN SELECT doc FROM docs_links${sql}`).all(...values);
      expect(step?.detail).toContain("ix_links_slug_domainId");
    }
    const hasNull = "EXPLAIN QUERY PLAN SELECT 1 FROM docs_links INDEXED BY ix_links_slug_domainId";
    expect(() => db.prepare(hasNull)).toThrow("no query solution");
  } finally {
    db.close();
    await cleanUp();
  }
});
