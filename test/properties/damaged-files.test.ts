// Files of the data folder that can be made again, damaged in any way: the start sets them aside, and works.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setDamagedAside } from "../../src/service/stores/made-again.ts";
import { openSqliteCounts } from "../../src/stores/counts/sqlite/counts.ts";
import { openSqliteReadStore } from "../../src/stores/read-store/sqlite/read-store.ts";
import { effort } from "../support/runtime/effort.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const PAGE = 4_096;
const NAMES = Array.from({ length: 300 }, (_, n) => `name-${n}`);

let folder: TemporaryFolder;
let sound: string;
let runs = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
  sound = join(folder.path, "sound");
  await mkdir(sound);
  await used(sound);
});
afterAll(() => folder.remove());

/** Writes and reads what services write and read. @throws where a store doesn't work */
async function used(dataDir: string): Promise<void> {
  const counts = openSqliteCounts(join(dataDir, "limits.db"), (name) => `hidden ${name}`);
  const counting = { add: 1, most: 1_000, lastsMs: 3_600_000, atLeast: 0 } as const;
  await Promise.all(NAMES.map((name) => counts.count(name, 1, counting)));
  await counts.close();
  const documents = await openSqliteReadStore(join(dataDir, "read.db"));
  await documents.ensure([{ name: "links", indexes: [["owner"]] }]);
  const links = NAMES.map((_id) => ({ _id, _position: "1", owner: _id, text: "x".repeat(300) }));
  await documents.write({ documents: [{ collection: "links", documents: links }] });
  expect(await documents.getMany("links", NAMES)).toHaveLength(NAMES.length);
  await documents.close();
}

const page = fc.nat({ max: 20 });
const damage = fc.oneof(
  fc.record({ kind: fc.constant("cut"), at: fc.nat({ max: 20 * PAGE }) }),
  fc.record({ kind: fc.constant("zeroed"), at: page }),
  fc.record({ kind: fc.constant("random"), at: page }),
  fc.record({ kind: fc.constantFrom("other columns", "other form"), at: fc.constant(0) }),
);

describe.each(["limits.db", "read.db"])("%s, damaged", (name) => {
  it("is set aside as it was and made again, or is as good as it was", async () => {
    const check = async (how: { kind: string; at: number }) => {
      const dataDir = join(folder.path, String(++runs));
      await mkdir(dataDir);
      const file = join(dataDir, name);
      await copyFile(join(sound, name), file);
      await damaged(file, how);
      const before = await readFile(file);
      const said: string[] = [];
      await setDamagedAside(dataDir, (line) => said.push(line));
      const aside = (await readdir(dataDir)).filter((other) => other.startsWith(`${name}.damaged-`));
      expect(aside).toHaveLength(said.length);
      for (const [n, other] of aside.entries()) {
        expect(said[n]).toMatch(new RegExp(`^${name} can't be used \\(.+\\): it is kept as ${other}, and `));
        expect(await readFile(join(dataDir, other))).toEqual(before);
      }
      await used(dataDir);
      await rm(dataDir, { recursive: true });
    };
    await fc.assert(fc.asyncProperty(damage, check), { numRuns: effort(60, 600) });
  });
});

async function damaged(file: string, { kind, at }: { kind: string; at: number }): Promise<void> {
  if (kind.startsWith("other")) {
    const db = new DatabaseSync(file);
    for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all())
      if (kind === "other form") db.exec(`DROP TABLE ${name}; CREATE VIEW ${name} AS SELECT 1`);
      else db.exec(`ALTER TABLE ${name} ADD COLUMN another TEXT`);
    return db.close();
  }
  const bytes = await readFile(file);
  if (kind === "cut") return await writeFile(file, bytes.subarray(0, at));
  const start = (at * PAGE) % bytes.length;
  const random = crypto.getRandomValues(new Uint8Array(PAGE));
  for (let n = 0; n < PAGE; n += 1) bytes[start + n] = kind === "random" ? (random[n] as number) : 0;
  await writeFile(file, bytes);
}
