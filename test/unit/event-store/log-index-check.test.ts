// Events that are in events.db, and that a reader of their stream or category misses: the check of the log names them.
import { randomUUID } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { openLogIndexCheck } from "../../../src/event-store/sqlite/index-check/log-index-check.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { linkClicked, linkCreated, position } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const LINKS = 3;
const [APPENDS, APPENDED] = [53, 10];
/** In turns: 52 appends become one batch. */
const CLICKS = ["clicks-a-20260301", "clicks-b-20260301"] as const;

let folder: TemporaryFolder;
let copies = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  const eventStore = await openSqliteEventStore(join(folder.path, "events.db"));
  for (let n = 0; n < LINKS; n += 1)
    await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}` })]);
  const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
  const clicks = (count: number) =>
    Array.from({ length: count }, () => newEvent(linkClicked({ link: "sho.rt/l0" }), randomUUID(), origin));
  for (let n = 0; n < APPENDS; n += 1) {
    const expected = n < 2 ? "none" : Math.floor(n / 2) * APPENDED - 1;
    await eventStore.append(CLICKS[n % 2] as string, expected, clicks(APPENDED));
  }
  await eventStore.close();
});
afterAll(() => folder.remove());

async function problemsAfter(statements: readonly string[], after?: number): Promise<string[]> {
  copies += 1;
  const file = join(folder.path, `copy-${copies}.db`);
  await copyFile(join(folder.path, "events.db"), file);
  const db = new DatabaseSync(file);
  db.enableDefensive(false);
  for (const sql of statements) db.exec(sql);
  db.close();
  const check = openLogIndexCheck(file, { sleep: async () => undefined });
  try {
    const found = await check.problems(after === undefined ? undefined : position(after));
    return found.map(({ stream, revision, message }) => `${stream}@${revision} ${message}`);
  } finally {
    check.close();
  }
}

const MISSED = "is filed wrongly in events.db: readers of its stream or category miss it";
const inserted = (at: number, category: string) =>
  `INSERT INTO events (position, category, stream, revision, id, type, data, metadata, recorded_at)
   SELECT ${at}, '${category}', stream, 1, 'new', 'LinkDeleted', data, metadata, recorded_at
   FROM events WHERE position = 2`;

describe("the index check of events.db", () => {
  it("is good as the log wrote it, in rows and in batches", async () => {
    expect(await problemsAfter([])).toEqual([]);
  });

  it.each<[string, string[], string[]]>([
    [
      "an event in another category",
      ["UPDATE events SET category = 'account' WHERE position = 2"],
      [`link-sho.rt/l1@0 ${MISSED}`],
    ],
    ["an inserted event in no category that is read", [inserted(9999, "x")], [`link-sho.rt/l1@1 ${MISSED}`]],
    ["an inserted event before the first position", [inserted(-7, "link")], [`link-sho.rt/l1@1 ${MISSED}`]],
    [
      "clicks in another category",
      ["UPDATE segments SET category = 'link' WHERE last_position = 523"],
      [`${CLICKS[0]}@259 ${MISSED}`, `${CLICKS[1]}@259 ${MISSED}`],
    ],
    [
      "clicks of a merged batch that their stream has lost",
      ["DELETE FROM segment_streams"],
      [`${CLICKS[0]}@259 ${MISSED}`],
    ],
    [
      "clicks of a merged batch under another stream",
      ["UPDATE segments SET stream = 'clicks-c-20260301' WHERE last_position = 523"],
      [`${CLICKS[1]}@259 ${MISSED}`],
    ],
    [
      "an event that an index lacks",
      [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = sql || ' WHERE 0' WHERE name = 'events_by_category'",
        "PRAGMA writable_schema = RESET",
        inserted(9999, "link"),
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = replace(sql, ' WHERE 0', '') WHERE name = 'events_by_category'",
      ],
      [
        "@-1 events.db is damaged: wrong # of entries in index events_by_category",
        "@-1 events.db is damaged: row 4 missing from index events_by_category",
      ],
    ],
    [
      "a batch that can't be read",
      ["UPDATE segments SET body = substr(body, 1, 99) WHERE last_position = 523"],
      [`${CLICKS[1]}@259 events.db is damaged: the 520 events up to here can't be read`],
    ],
    [
      "a batch that names no file of the archive",
      ["UPDATE segments SET body = x'02' WHERE last_position = 523"],
      [`${CLICKS[1]}@259 events.db is damaged: the 520 events up to here can't be read`],
    ],
  ])("names %s", async (_, statements, expected) => {
    expect(await problemsAfter(statements)).toEqual(expected);
  });

  it("is looked at behind a position alone", async () => {
    const sql = ["UPDATE events SET category = 'account'", "UPDATE segments SET category = 'link'"];
    expect(await problemsAfter(sql, 523)).toEqual([`${CLICKS[0]}@269 ${MISSED}`]);
  });
});
