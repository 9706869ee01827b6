// A data folder whose log another version wrote, in another form: refused in one line, and left as it is; so is a file that can't be opened.
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { instanceOf, startService } from "../../support/service/service-process.ts";

const REFUSAL =
  "events.db is no event log of this version: give a DATA_DIR of its own, or start the version that wrote it";

describe("a log of another form", () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let before: Record<string, string>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, "data");
    await mkdir(dataDir, { mode: 0o700 });
    await writeFile(join(dataDir, "secret.key"), "k".repeat(64), { mode: 0o600 });
    for (const [name, table] of Object.entries({ events: "events", secrets: "secrets", read: "documents" })) {
      const file = join(dataDir, `${name}.db`);
      const db = new DatabaseSync(file);
      db.exec(`PRAGMA journal_mode = WAL; CREATE TABLE ${table} (position INTEGER PRIMARY KEY, data TEXT)`);
      db.exec(`INSERT INTO ${table} (data) VALUES ('{}')`);
      db.close();
      await chmod(file, 0o600);
    }
    before = await contents();
  });
  afterEach(() => folder.remove());

  async function contents(): Promise<Record<string, string>> {
    // The lock says who has the folder, and nothing of its data.
    const names = (await readdir(dataDir)).filter((name) => name !== "lock.db").sort();
    const digests = names.map(async (name) => {
      const bytes = await readFile(join(dataDir, name));
      return [name, createHash("sha256").update(bytes).digest("hex")] as const;
    });
    return Object.fromEntries(await Promise.all(digests));
  }

  it("is refused by the service, which ends with 1 and changes nothing", { timeout: 30_000 }, async () => {
    const refused = startService(await instanceOf(dataDir));
    await expect(refused).rejects.toThrow(`ended with 1:\nlinkledger: DATA_DIR: ${dataDir}/${REFUSAL}\n`);
    expect(await contents()).toEqual(before);
  });

  it("is refused by commands, which change nothing", { timeout: 30_000 }, async () => {
    const { linkledger } = commandLine(dataDir);
    for (const command of [
      ["projections", "rebuild"],
      ["audit", "verify"],
    ]) {
      const { code, stdout, stderr } = await linkledger([...command, "--json"]);
      expect([code, stdout, stderr]).toEqual([1, "", `error: ${dataDir}/${REFUSAL}\n`]);
    }
    expect(await contents()).toEqual(before);
  });
});

it.each(["events.db", "read.db", "secrets.db", "deliveries.db"])(
  "%s that can't be opened is named as what is unavailable",
  async (name) => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const file = join(folder.path, name);
    await mkdir(file);
    await expect(openBackend({ dataDir: folder.path })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining(file),
    });
  },
);
