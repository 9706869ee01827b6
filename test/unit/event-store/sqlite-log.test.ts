// The SQLite log: what is stored, what of a damaged or edited file can still be read, and which files it refuses.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { openLogFile } from "../../../src/stores/event-store/sqlite/log-file.ts";
import { appendRequest, LogFileWriter } from "../../../src/stores/event-store/sqlite/write-log.ts";
import { loggedEvents, loggedTexts } from "../../support/event-store/logged-events.ts";
import { sampleEvent, sampleEvents } from "../../support/event-store/sample-events.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

let folder: TemporaryFolder;
let file: string;
let opened: EventStore[];
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, "events.db");
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await folder.remove();
});

async function open(options = {}): Promise<EventStore> {
  const store = await openSqliteEventStore(file, options);
  opened.push(store);
  return store;
}

/** As somebody with `sqlite3` would. */
function edit(sql: string, ...values: (string | number | Uint8Array)[]): void {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  db.exec("PRAGMA ignore_check_constraints = ON");
  db.prepare(sql).run(...values);
  db.close();
}

function rows(): Record<string, unknown>[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const found = db.prepare("SELECT * FROM appends ORDER BY position").all();
  db.close();
  return found;
}

const all = { categories: ["link", "clicks", "account"], limit: 1_000 };

describe("what is stored", () => {
  it("is one row an append, never written again", async () => {
    const store = await open();
    const events = sampleEvents(3);
    await store.append("link-a", "none", events);
    const before = rows();
    expect(before).toMatchObject([
      { position: 3, category: "link", stream: "link-a", revision: 2, count: 3 },
    ]);
    expect(JSON.parse(before[0]?.body as string)).toEqual(events);
    for (let n = 0; n < 50; n++) await store.append("clicks-a", n === 0 ? "none" : n - 1, [sampleEvent()]);
    expect(rows()).toHaveLength(51);
    expect(rows()[0]).toEqual(before[0]);
  });

  it("of clicks is compressed with a dictionary that lies in the same file", async () => {
    const store = await open();
    const events = sampleEvents(500).map((event) => ({ ...event, data: { text: "a".repeat(1000) } }));
    await store.append("clicks-a", "none", events);
    expect(await store.read("clicks-a")).toHaveLength(500);
    const db = new DatabaseSync(file, { readOnly: true });
    const [row] = db
      .prepare("SELECT body, bytes FROM appends JOIN dictionaries ON number = dictionary")
      .all();
    db.close();
    const { body, bytes } = row as { body: Uint8Array; bytes: Uint8Array };
    expect(body.length).toBeLessThan(50_000);
    expect(JSON.parse(zstdDecompressSync(body, { dictionary: bytes }).toString())).toEqual(events);
  });

  it("survives when a group of appends fails together, and nothing of the group is read", async () => {
    const log = new LogFileWriter(openLogFile(file));
    const at = "2026-03-01T10:00:00.000Z";
    const [one, other] = [sampleEvents(1), sampleEvents(1)];
    // A full disk: whatever is appended fails when the row is written for a third stream.
    const db = new DatabaseSync(file);
    db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON appends WHEN new.stream = 'link-full' BEGIN SELECT raise(ABORT, 'disk full'); END",
    );
    const group = ["link-a", "link-a", "link-full"].map((stream) =>
      log.append(appendRequest(stream, "none", stream === "link-a" ? one : other, at)),
    );
    for (const appended of await Promise.allSettled(group))
      expect(appended).toMatchObject({ status: "rejected", reason: { message: /disk full/ } });
    db.exec("DROP TRIGGER full");
    db.close();
    expect(await log.append(appendRequest("link-a", "none", other, at))).toEqual({
      revision: 0,
      position: 1,
    });
    await log.close();
    expect((await loggedEvents(await open(), all)).map(({ id }) => id)).toEqual([other[0]?.id]);
  });
});

it("refuses a file with a trigger at the start, whatever that would do, and names it", async () => {
  const store = await open();
  await store.append("link-a", "none", [sampleEvent({ n: 3 })]);
  await store.close();
  edit("CREATE TRIGGER changing BEFORE INSERT ON appends BEGIN SELECT raise(IGNORE); END");
  await expect(open()).rejects.toMatchObject({
    code: "file_altered",
    message: expect.stringMatching(/: the trigger changing doesn't belong there$/),
  });
  const readOnly = await open({ readOnly: true });
  expect(await readOnly.structureProblems(["link"])).toEqual([
    { what: "events.db is not as this program makes it: the trigger changing doesn't belong there" },
  ]);
  expect(await loggedEvents(readOnly, all)).toHaveLength(1);
});

describe("of an edited file", () => {
  /** Three appends of links, then clicks, then another link; nine events. */
  async function written(): Promise<void> {
    const store = await open();
    await store.append("link-a", "none", sampleEvents(2));
    await store.append("link-b", "none", [sampleEvent({ a: 1, b: { c: [2] } }), sampleEvent({ n: 3 })]);
    await store.append("clicks-a", "none", sampleEvents(4));
    await store.append("account-a", "none", sampleEvents(1));
    await store.close();
  }

  it.each([
    ["a body that was cut", "UPDATE appends SET body = substr(body, 1, 40) WHERE position = 4", [3, 4]],
    ["a body that is no JSON", "UPDATE appends SET body = 'gone' WHERE position = 4", [3, 4]],
    ["a body without one of its events", "UPDATE appends SET body = '[]' WHERE position = 4", [3, 4]],
    [
      "a compressed body that was cut",
      "UPDATE appends SET body = substr(body, 1, 30) WHERE position = 8",
      [5, 6, 7, 8],
    ],
    [
      "a compressed body with other bytes",
      "UPDATE appends SET body = zeroblob(90) WHERE position = 8",
      [5, 6, 7, 8],
    ],
    ["a dictionary that is gone", "UPDATE appends SET dictionary = 9 WHERE position = 8", [5, 6, 7, 8]],
    [
      "an event that is no object",
      "UPDATE appends SET body = '[5,' || json_extract(body, '$[1]') || ']' WHERE position = 4",
      [3],
    ],
    [
      "an event without a type",
      "UPDATE appends SET body = json_remove(body, '$[0].type') WHERE position = 4",
      [3],
    ],
    [
      "metadata that are no object",
      "UPDATE appends SET body = json_set(body, '$[1].metadata', 'x') WHERE position = 4",
      [4],
    ],
  ])("%s is told of each event that it held, and all others are read", async (_, sql, spoilt) => {
    await written();
    edit(sql);
    const store = await open();
    const events = await loggedEvents(store, all);
    expect(events.map(({ position }) => Number(position))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const unreadable = events.filter((event) => event.unreadable !== undefined);
    expect(unreadable.map(({ position }) => Number(position))).toEqual(spoilt);
    for (const event of unreadable) {
      expect(event.data).toBeNull();
      expect(event).toMatchObject({
        stream: spoilt[0] === 5 ? "clicks-a" : "link-b",
        recordedAt: expect.any(String),
      });
    }
    const streams = await Promise.all(["link-b", "clicks-a"].map((stream) => store.read(stream)));
    expect(streams.flat().map(({ revision }) => revision)).toEqual([0, 1, 0, 1, 2, 3]);
  });

  it.each([
    ["a name that stands twice", `replace(body, '"n":3', '"n":9,"n":3')`, [4]],
    ["a name that stands twice in a nested object", `replace(body, '"c":', '"c":0,"c":')`, [3]],
    ["white space inside of an event", `replace(body, '"n":3', '"n": 3')`, [4]],
    ["white space between two events", `replace(body, '},{"id"', '}, {"id"')`, [4]],
  ])("%s is told of the stored text, though it parses to the same", async (_, body, spoilt) => {
    await written();
    edit(`UPDATE appends SET body = ${body} WHERE position = 4`);
    const plain = await loggedEvents(await open(), all);
    expect(plain.filter(({ unreadable }) => unreadable !== undefined)).toEqual([]);
    const checked = await loggedTexts(await open(), all);
    const found = checked.filter(({ unreadable }) => unreadable !== undefined);
    expect(found.map(({ position }) => Number(position))).toEqual(spoilt);
  });

  it("is read as it is now, also by who has read it before", async () => {
    const store = await open();
    await store.append("link-a", "none", [sampleEvent({ n: 1 })]);
    const before = await loggedEvents(store, all);
    edit("UPDATE appends SET body = replace(body, '\"n\":1', '\"n\":2')");
    expect((await loggedEvents(store, all)).map(({ data }) => data)).toEqual([{ n: 2 }]);
    edit("UPDATE appends SET body = replace(body, '\"n\":2', '\"n\":1')");
    expect(await store.read("link-a")).toEqual(before);
  });

  it("no text is told that `append` wrote, whatever names and values it has", async () => {
    const store = await open();
    const odd = { 10: 1, 2: { ["__proto__"]: "x", constructor: null }, "": [-0, 1e21, "\u2028\ud800"] };
    await store.append("link-a", "none", [
      sampleEvent(odd),
      sampleEvent(JSON.parse('{"b":1,"a":{"__proto__":1}}')),
    ]);
    const events = await loggedTexts(await open(), all);
    expect(events.map(({ unreadable }) => unreadable)).toEqual([undefined, undefined]);
  });
});

describe("a file of another form", () => {
  it("is refused in one line, and not changed", async () => {
    const db = new DatabaseSync(file);
    db.exec(
      "CREATE TABLE segments (last_position INTEGER PRIMARY KEY); CREATE TABLE events (position INTEGER)",
    );
    db.close();
    const before = [await readFile(file), (await stat(file)).mtimeMs];
    const error = await openSqliteEventStore(file).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringMatching(/is no event log of this version[^\n]*$/),
    });
    const found = new DatabaseSync(file, { readOnly: true });
    expect(found.prepare("SELECT name FROM sqlite_schema").all()).toHaveLength(2);
    found.close();
    expect((await readFile(file)).length).toBe((before[0] as Buffer).length);
  });
});
