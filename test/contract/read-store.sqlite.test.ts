// The read store contract on SQLite, in the caller's thread and with the reader thread for slow calls.
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { domains } from "../../src/projections/definitions/domains.ts";
import { linkTotals } from "../../src/projections/definitions/link-totals.ts";
import { links } from "../../src/projections/definitions/links.ts";
import { accountLinks, LINK_ORDERS, LINK_SCOPES, listLinks } from "../../src/queries/links/list-links.ts";
import { topLinks } from "../../src/queries/links/top-links.ts";
import { openSqliteReadStore } from "../../src/stores/read-store/read-store.sqlite.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { inThreads } from "../support/service/store-threads.ts";
import { expectPrintedTable } from "./click-table-script.ts";
import { readStoreContract } from "./read-store.ts";

const open = async (inCallersThread: boolean) => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "read.db");
  const openStore = () =>
    inCallersThread ? openSqliteReadStore(file) : inThreads(folder.path, ({ stores }) => stores.foldStore());
  const readStore = await openStore();
  return {
    readStore,
    file,
    reopen: openStore,
    async cleanUp() {
      await readStore.close();
      await folder.remove();
    },
  };
};

readStoreContract("SQLite in the caller's thread", () => open(true));
readStoreContract("SQLite with the reader thread", () => open(false));

it.each([true, false])(
  "is unavailable while pages of its file can't be read (in the caller's thread: %s)",
  async (inCallersThread) => {
    const { readStore, file, reopen, cleanUp } = await open(inCallersThread);
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

it("has tables of clicks that a script reads without us", async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "read.db");
  const readStore = await openSqliteReadStore(file);
  await expectPrintedTable(readStore, file);
  await readStore.close();
  await folder.remove();
});

it("reads a page of each list of links by an index alone, however many links an account has", async () => {
  const { readStore, file, cleanUp } = await open(true);
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  try {
    await readStore.ensure([links.collection, linkTotals, domains.collection]);
    const deps = { readStore, baseUrl: "http://localhost", baseHost: "localhost", clock: () => new Date() };
    const caller = { keyId: "k", accountId: "a" };
    const cursor = Buffer.from('["2026","localhost/abc"]').toString("base64url");
    const pages = [{}, { cursor }, { q: "text" }, { tag: "spring" }, { from: 1 }, { external_id: "x" }];
    for (const scope of LINK_SCOPES)
      for (const sort of LINK_ORDERS)
        for (const page of pages) await listLinks(deps, caller, { limit: 50, scope, sort, ...page });
    for (const page of [
      {},
      { q: "text" },
      { tag: "spring" },
      { status: "live" },
      { domainId: null },
      { madeBy: "portal" },
      { madeBy: "0f9b1a52-3c1d-4a52-9d5e-0a1b2c3d4e5f" },
    ] as const)
      for (const place of [{}, { after: cursor }, { before: cursor }])
        await accountLinks(deps, "a", { limit: 50, ...page, ...place });
    const clicked = Buffer.from('[7,"localhost/abc"]').toString("base64url");
    for (const place of [{}, { after: clicked }, { before: clicked }])
      await topLinks(deps, "a", { limit: 50, ...place });
    const searches = prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("ORDER BY"));
    expect(searches.length).toBeGreaterThan(20);
    const db = new DatabaseSync(file);
    for (const sql of searches) {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      const steps = plan.map(({ detail }) => String(detail)).filter((step) => /docs_|TEMP/.test(step));
      // A sort would be a step of its own.
      expect(steps).toEqual([expect.stringMatching(/^SEARCH docs_\S+ USING INDEX .*<expr>=\?/)]);
    }
    db.close();
  } finally {
    prepare.mockRestore();
    await cleanUp();
  }
});
