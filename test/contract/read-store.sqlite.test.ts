// The read store contract on SQLite, in the caller's thread and with a thread of its own for slow calls.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { links } from "../../src/projections/definitions/links.ts";
import { conditions } from "../../src/read-store/sqlite/query.ts";
import { openSqliteReadStore } from "../../src/read-store/sqlite/read-store.ts";
import { readStoreContract } from "./read-store.ts";

const open = async (offThread: boolean) => {
  const folder = await mkdtemp(join(tmpdir(), "read-store-"));
  const file = join(folder, "read.db");
  const readStore = await openSqliteReadStore(file, { offThread });
  return {
    readStore,
    file,
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
