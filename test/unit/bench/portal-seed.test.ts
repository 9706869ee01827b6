// The account of the portal's benchmark, which is kept from one run to the next.
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Seeded, withSeededPortal } from "../../../bench/portal/portal-seed.ts";
import { openBackend } from "../../../src/backend.ts";
import { parseConfig } from "../../../src/config.ts";
import { eventIndex } from "../../../src/projections/definitions/event-index.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const SIZE = { links: 20, clicks: 50 };
const MARKER = "seeded.json";
const report = { line: () => undefined, table: () => undefined };

let folder: TemporaryFolder;

beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const run = <T>(work: (seeded: Seeded) => Promise<T>) => withSeededPortal(folder.path, SIZE, report, work);

describe("the account of the portal's benchmark", () => {
  it("is the same in another run of the day, without what the first run left in it", async () => {
    const first = await run(async ({ accountId, dataDir }) => {
      await appendFile(join(dataDir, "left-behind"), "");
      return accountId;
    });
    await run(async ({ accountId, dataDir }) => {
      expect(accountId).toBe(first);
      await expect(readFile(join(dataDir, "left-behind"))).rejects.toThrow("ENOENT");
    });
  });

  it("is made anew on another day", async () => {
    const first = await run(async ({ accountId }) => accountId);
    const marker = join(folder.path, `portal-${SIZE.links}-${SIZE.clicks}`, MARKER);
    const kept = JSON.parse(await readFile(marker, "utf8"));
    await writeFile(marker, JSON.stringify({ ...kept, day: "2026-03-01" }));
    expect(await run(async ({ accountId }) => accountId)).not.toBe(first);
  });

  it("has its index of events", async () => {
    await run(async ({ dataDir }) => {
      const backend = await openBackend(parseConfig({ DATA_DIR: dataDir }), { offThread: false });
      try {
        expect(await backend.readStore.count(eventIndex.collection.name, {})).toBeGreaterThan(SIZE.links);
      } finally {
        await backend.close();
      }
    });
  });
});
