// Files of the data folder that can be made again, damaged in any way: the start sets them aside, and works.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqliteJournalFiles } from "../../src/redirect/clicks/journal-file.sqlite.ts";
import type { JournalFile, JournalFiles } from "../../src/redirect/clicks/journal-file.ts";
import { keepDamagedFiles } from "../../src/service/stores/made-again.ts";
import { openSqliteCounts } from "../../src/stores/counts/counts.sqlite.ts";
import type { Counts } from "../../src/stores/counts/counts.ts";
import type { NewEvent } from "../../src/stores/event-store/port.ts";
import { openSqliteReadStore } from "../../src/stores/read-store/read-store.sqlite.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";

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
      await keepDamagedFiles(dataDir, (line) => said.push(line));
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

it("limits.db, damaged while it is used, is set aside, counts anew for all of its processes, and says so", async () => {
  const counting = { add: 1, most: 1_000, lastsMs: 3_600_000, atLeast: 0 } as const;
  const check = async (how: { kind: string; at: number }) => {
    const dataDir = join(folder.path, String(++runs));
    await mkdir(dataDir);
    const file = join(dataDir, "limits.db");
    await copyFile(join(sound, "limits.db"), file);
    const said: string[] = [];
    const open = () =>
      openSqliteCounts(
        file,
        (name) => `hidden ${name}`,
        (line) => said.push(line),
      );
    const [here, there] = [open(), open()];
    await damaged(file, how);
    const count = async (counts: Counts) => {
      const all = await Promise.all(NAMES.map((name) => counts.count(name, 1, counting)));
      return Math.min(...all.map((one) => one?.used ?? 0));
    };
    await count(here);
    const least = await count(here);
    expect(least).toBeGreaterThanOrEqual(2);
    if (said.length > 0)
      expect(here.problem).toMatch(/^limits\.db was damaged \(.+\): it is kept as limits\.db\.damaged-/);
    else expect(here.problem).toBeUndefined();
    await until("the other process to count in the same file", async () => {
      await count(there);
      return (await count(here)) === (await count(there)) - 1;
    });
    await here.close();
    await there.close();
    await used(dataDir);
    await rm(dataDir, { recursive: true });
  };
  const kinds = fc.record({ kind: fc.constantFrom("zeroed", "random"), at: fc.integer({ min: 1, max: 20 }) });
  await fc.assert(fc.asyncProperty(kinds, check), { numRuns: effort(8, 40) });
}, 120_000);

describe("a journal of clicks, damaged", () => {
  const LOG = "log-1";
  const STREAM = "clicks-a-20260501";
  const sizes = Array.from({ length: 40 }, (_, n) => 1 + ((n * n * 7) % 45));
  const clicks = sizes.reduce((sum, size) => sum + size, 0);
  const names = () => sampleEvents(1)[0]?.id as string;
  const journalsIn = (path: string) =>
    sqliteJournalFiles(path, { maxBytes: 1e9, minFreeBytes: 0, newName: names });
  let events: Map<string, NewEvent>;
  let journal: string;

  beforeAll(async () => {
    const path = join(sound, "click-journal");
    const own = journalsIn(path).create();
    events = new Map();
    let after = -1;
    for (const size of sizes) {
      const batch = sampleEvents(size).map((event) => ({
        ...event,
        data: { at: "2026-05-01T00:00:00.000Z", text: "x".repeat(400) },
      }));
      own.put([{ stream: STREAM, after, events: batch }], LOG);
      for (const event of batch) events.set(event.id, event);
      after += size;
    }
    own.close();
    const [name = ""] = await readdir(path);
    journal = join(path, name);
  });

  /** All that is in them, as the journal reads it. */
  function readAll(files: JournalFiles, say: (message: string) => void): NewEvent[] {
    const found: NewEvent[] = [];
    for (let file of files.openLeft(LOG, say)) {
      for (;;) {
        try {
          const oldest = file.oldest(100);
          if (!oldest) break;
          found.push(...oldest.events);
          file.drop(oldest);
        } catch (error) {
          file = files.replaceDamaged(file, error, say);
        }
      }
      file.close();
    }
    return found;
  }

  it("keeps what can be read, and counts what can't where that is known", async () => {
    const counts = { sound: 0, read: 0, lost: 0, unknown: 0 };
    const check = async (how: { kind: string; at: number }) => {
      const path = join(folder.path, String(++runs));
      await mkdir(path);
      const file = join(path, basename(journal));
      await copyFile(journal, file);
      await damaged(file, how);
      const before = await readFile(file);
      const said: string[] = [];
      const files = journalsIn(path);
      // Twice, as one without content may be in the making.
      const found = [1, 2].flatMap(() => readAll(files, (line) => said.push(line)));
      const read = found.filter(({ type }) => type !== "ClicksNotRecorded");
      expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
      for (const event of read) expect(event).toEqual(events.get(event.id));
      const gaps = found.filter(({ type }) => type === "ClicksNotRecorded");
      const lost = gaps.reduce((sum, { data }) => sum + (data as { hits: number }).hits, 0);
      const isUnknown = said.some((line) => line.includes("it is not known how many"));
      if (isUnknown) expect(read.length + lost).toBeLessThanOrEqual(clicks);
      else expect(read.length + lost).toBe(clicks);
      const aside = (await readdir(path)).filter((name) => /\.damaged-\w+$/.test(name));
      expect(aside).toHaveLength(said.length);
      for (const name of aside) expect(await readFile(join(path, name))).toEqual(before);
      if (said.length === 0) counts.sound++;
      counts.read += read.length;
      counts.lost += lost;
      counts.unknown += isUnknown ? clicks - read.length - lost : 0;
      await rm(path, { recursive: true });
    };
    const kinds = fc.oneof(
      fc.record({ kind: fc.constant("cut"), at: fc.nat({ max: 160 * PAGE }) }),
      fc.record({ kind: fc.constantFrom("zeroed", "random"), at: fc.nat({ max: 160 }) }),
    );
    await fc.assert(fc.asyncProperty(kinds, check), { numRuns: effort(30, 150) });
    printCounts("damaged journals of 40 batches", counts);
  }, 120_000);

  it("is read at the next try where what can be read could not be kept", async () => {
    const path = join(folder.path, String(++runs));
    await mkdir(path);
    const file = join(path, basename(journal));
    await copyFile(journal, file);
    await damaged(file, { kind: "zeroed", at: 30 });
    let files = 0;
    // After that of the new file: the name of the event that says what is lost.
    const newName = () => {
      files += 1;
      if (files === 2) throw new Error("no room");
      return names();
    };
    const journals = sqliteJournalFiles(path, { maxBytes: 1e9, minFreeBytes: 0, newName });
    const [left] = journals.openLeft(LOG, () => undefined);
    const replace = () => journals.replaceDamaged(left as JournalFile, new Error("damaged"), () => undefined);
    expect(replace).toThrow("no room");
    const { clicks: kept } = replace().size();
    expect(kept).toBeGreaterThan(clicks / 2);
    expect(kept).toBeLessThan(clicks);
  });

  it("of a newer program stays as it is, and is named", async () => {
    const path = join(folder.path, String(++runs));
    await mkdir(path);
    const file = join(path, basename(journal));
    await copyFile(journal, file);
    const db = new DatabaseSync(file);
    db.exec("PRAGMA user_version = 2");
    db.close();
    const said: string[] = [];
    const files = journalsIn(path);
    for (let look = 0; look < 2; look++) expect(readAll(files, (line) => said.push(line))).toEqual([]);
    expect(said).toEqual([
      `The click journal ${basename(journal)} is of another version of this program: it stays as it is`,
    ]);
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
