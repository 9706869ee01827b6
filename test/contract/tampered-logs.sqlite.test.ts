// events.db edited by hand, each way alone, in a log of 50 events and of 30,000: what `audit verify` says of it.
import { randomUUID } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KnownSeal } from "../../src/audit/seals/seal.ts";
import { type SealKeys, sealKeysOf } from "../../src/audit/seals/seal-keys.ts";
import { Sealer } from "../../src/audit/seals/sealer.ts";
import { type LogVerification, verifyLog } from "../../src/audit/verify-log.ts";
import { embeddedStores } from "../../src/service/stores/embedded.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { KEYS } from "../support/audit/keys.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

type Row = { position: number; stream: string; revision: number; count: number; body: Uint8Array | string };
type Edit = (db: DatabaseSync) => void;

const SIZES = effort(1, 2) === 1 ? [50] : [50, 30_000];
const CLICKS = "clicks-a-20260301";
const LINKS = 9;
const BATCH = 10;
/** Of the first block, which is sealed at half of the events. */
const FIRST_SEAL = "stream = 'seals' AND revision = 0";
const LINK = "stream = 'link-sho.rt/l3'";
const COLUMNS = "position, stream, revision, count, recorded_at, dictionary, body";
const OWN_TABLE = `
  CREATE TABLE other (position INTEGER PRIMARY KEY, category TEXT, stream TEXT NOT NULL, revision INTEGER NOT NULL,
    count INTEGER NOT NULL, recorded_at TEXT NOT NULL, dictionary INTEGER, body ANY NOT NULL) STRICT;
  INSERT INTO other SELECT position, category, stream, revision, count, recorded_at, dictionary, body FROM appends;
  DROP TABLE appends; ALTER TABLE other RENAME TO appends;
  CREATE UNIQUE INDEX appends_by_stream ON appends (stream, revision);
  CREATE INDEX appends_by_category ON appends (category, position);`;
/** Where the link leads since, in a row of its own. */
const RETARGETED = `INSERT INTO appends (position, category, stream, revision, count, recorded_at, body)
  SELECT (SELECT max(position) + 1 FROM appends), 'zzz', stream, 1, 1, recorded_at,
    json_set(body, '$[0].type', 'LinkRetargeted', '$[0].id', 'x', '$[0].data',
      json('{"host":"sho.rt","slug":"l3","accountId":"${ACCOUNT}","from":"https://example.com/","to":"https://evil.example/","at":"2026-03-01T10:15:00.000Z"}'))
  FROM appends WHERE ${LINK}`;

const sql =
  (...statements: string[]): Edit =>
  (db) => {
    db.exec("PRAGMA ignore_check_constraints = ON");
    for (const statement of statements) db.exec(statement);
  };

/** Writes the clicks of one append anew, as whoever has the dictionary can. */
const changeBatch =
  (change: (events: unknown[]) => unknown[], columns = ""): Edit =>
  (db) => {
    const row = db.prepare(`SELECT * FROM appends WHERE stream = ? LIMIT 1`).get(CLICKS) as Row;
    const { bytes } = db.prepare("SELECT bytes FROM dictionaries").get() as { bytes: Uint8Array };
    const events = JSON.parse(zstdDecompressSync(row.body as Uint8Array, { dictionary: bytes }).toString());
    const body = zstdCompressSync(JSON.stringify(change(events)), { dictionary: bytes });
    db.prepare(`UPDATE appends SET body = ? ${columns} WHERE position = ?`).run(body, row.position);
  };

const shiftBehind = (position: string, by: number) => [
  `UPDATE appends SET position = -position - ${by} WHERE position > ${position}`,
  "UPDATE appends SET position = -position WHERE position < 0",
];

/** Everything that needs no key, or one of one's own. */
const sealAnew = async (file: string, keys: SealKeys) => {
  const eventStore = await openSqliteEventStore(file);
  const noted = { get: async () => undefined, set: async () => undefined };
  const deps = { eventStore, keys: [keys] as const, noted, clock: () => new Date(), newId: randomUUID };
  const sealer = await Sealer.open(deps);
  while (await sealer.read());
  await sealer.seal();
  await eventStore.close();
};

const EDITS: Record<string, [Edit, RegExp]> = {
  "one character of a link": [
    sql(`UPDATE appends SET body = replace(body, 'example.com', 'example.con') WHERE ${LINK}`),
    /1 problem found, the first in link-sho.rt\/l3, revision 0 at position 0*5: was changed/,
  ],
  "one character of a click": [
    changeBatch((events) => JSON.parse(JSON.stringify(events).replace("city 3", "city 4"))),
    /1 problem found, the first in clicks-a-20260301, revision 3 at .*: was changed/,
  ],
  "an event removed": [
    changeBatch((events) => events.slice(1), ", count = count - 1"),
    /2 problems found, the first in clicks-a-20260301, revision 0: was removed/,
  ],
  "an event inserted": [
    (db) => {
      sql(...shiftBehind(`(SELECT position FROM appends WHERE ${LINK})`, 1))(db);
      sql(`INSERT INTO appends (${COLUMNS}) SELECT position + 1, 'link-sho.rt/new', 0, 1, recorded_at, NULL,
        replace(replace(body, '"slug":"l3"', '"slug":"new"'), '"id":"', '"id":"1') FROM appends WHERE ${LINK}`)(
        db,
      );
    },
    /problems found/,
  ],
  "two events exchanged": [
    sql(
      `UPDATE appends SET position = -1 WHERE ${LINK}`,
      "UPDATE appends SET position = 5 WHERE stream = 'link-sho.rt/l4'",
      `UPDATE appends SET position = 6 WHERE ${LINK}`,
    ),
    /2 problems found, the first in link-sho.rt\/l4, revision 0 at position 0*5: was changed/,
  ],
  "an append removed": [
    sql(`DELETE FROM appends WHERE stream = '${CLICKS}' AND revision = ${2 * BATCH - 1}`),
    /11 problems found, the first in clicks-a-20260301, revision 10: was removed/,
  ],
  "a seal removed": [
    sql(`DELETE FROM appends WHERE ${FIRST_SEAL}`),
    /the first in seals, revision 0: seal 0 was removed/,
  ],
  "the newest seal removed": [
    sql(
      "DELETE FROM appends WHERE stream = 'seals' AND revision = (SELECT max(revision) FROM appends WHERE stream = 'seals')",
    ),
    /the first in seals, revision \d: seal \d is not in the log any more, and it is the newest that was made/,
  ],
  "all seals removed": [
    sql("DELETE FROM appends WHERE stream = 'seals'"),
    /1 problem found, the first in seals, revision \d: seal \d is not in the log any more/,
  ],
  "the end cut off": [
    sql("DELETE FROM appends WHERE position > (SELECT max(position) FROM appends) - 12"),
    /the first in seals, revision \d: seal \d is not in the log any more/,
  ],
  "an event under a category of its own": [
    sql(OWN_TABLE, RETARGETED),
    /the first in the log: events.db is not as this program makes it: the table appends is another one/,
  ],
  "the table without its generated column": [
    sql(OWN_TABLE),
    /the first in the log: events.db is not as this program makes it: the table appends is another one/,
  ],
  "a trigger": [
    sql(
      "CREATE TRIGGER rewriting AFTER INSERT ON appends BEGIN UPDATE appends SET body = 'x' WHERE position = new.position; END",
    ),
    /1 problem found, the first in the log: events.db is not .*the trigger rewriting doesn't belong there/,
  ],
  "a view": [sql("CREATE VIEW links AS SELECT * FROM appends"), /the view links doesn't belong there/],
  "an index of its own": [
    sql("CREATE INDEX quick ON appends (recorded_at)"),
    /the index quick doesn't belong there/,
  ],
  "an index that is gone": [
    sql("DROP INDEX appends_by_category"),
    /the index appends_by_category is missing/,
  ],
  "an index that lacks a row": [
    sql(
      "PRAGMA writable_schema = ON",
      "UPDATE sqlite_schema SET sql = replace(sql, 'category, position', 'category, position) WHERE (position <> 5') WHERE name = 'appends_by_category'",
    ),
    /events.db/,
  ],
  "a member that stands twice": [
    sql(
      `UPDATE appends SET body = replace(body, '"longUrl":', '"longUrl":"https://evil.example/","longUrl":') WHERE ${LINK}`,
    ),
    /link-sho.rt\/l3, revision 0 .*(was changed|not as it was written)/,
  ],
  "a body with a space behind it": [
    sql(`UPDATE appends SET body = body || ' ' WHERE ${LINK}`),
    /link-sho.rt\/l3, revision 0 .*(was changed|not as it was written)/,
  ],
  "a frame behind a compressed body": [
    (db) => {
      const { bytes } = db.prepare("SELECT bytes FROM dictionaries").get() as { bytes: Uint8Array };
      const frame = zstdCompressSync("[]", { dictionary: bytes });
      const row = db.prepare("SELECT * FROM appends WHERE stream = ? LIMIT 1").get(CLICKS) as Row;
      const body = Buffer.concat([row.body as Uint8Array, frame]);
      db.prepare("UPDATE appends SET body = ? WHERE position = ?").run(body, row.position);
    },
    /clicks-a-20260301, revision 0 .*(was changed|can't be read)/,
  ],
  "another dictionary": [
    (db) => {
      const { bytes } = db.prepare("SELECT bytes FROM dictionaries").get() as { bytes: Uint8Array };
      const other = Buffer.from(bytes);
      other.fill(0, other.length >> 1);
      db.prepare("UPDATE dictionaries SET bytes = ?").run(other);
    },
    /problems? found/,
  ],
  "a row over the one before it": [
    sql(
      `UPDATE appends SET count = 2, body = json_insert(body, '$[1]', json_extract(body, '$[0]')) WHERE ${LINK}`,
    ),
    /problems found/,
  ],
  "a row over the last one, behind every seal": [
    sql(`INSERT INTO appends (${COLUMNS}) SELECT (SELECT max(position) + 1 FROM appends), 'link-sho.rt/new', 1, 2, recorded_at,
      NULL, json_array(json_extract(body, '$[0]'), json_extract(body, '$[0]')) FROM appends WHERE ${LINK}`),
    /link-sho.rt\/new, revision 0 its position is not behind the one before/,
  ],
};

describe.each(SIZES)("a log of %i events", { timeout: 600_000 }, (size) => {
  let folder: TemporaryFolder;
  let untouched: string;
  let backup: string;
  let noted: KnownSeal | undefined;
  let copies = 0;

  beforeAll(async () => {
    folder = await temporaryFolder();
    untouched = join(folder.path, "events.db");
    backup = join(folder.path, "backup.db");
    let eventStore = await openSqliteEventStore(untouched);
    const store = {
      get: async () => noted,
      async set(seal: KnownSeal | undefined) {
        noted = seal;
      },
    };
    const seal = async () => {
      const deps = { eventStore, noted: store, clock: () => new Date(), newId: randomUUID };
      const sealer = await Sealer.open({ ...deps, keys: [KEYS] });
      while (await sealer.read());
      await sealer.seal();
    };
    const at = new Date().toISOString();
    await append(eventStore, `account-${ACCOUNT}`, [
      { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
    ]);
    for (let n = 0; n < LINKS; n += 1)
      await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}`, at })]);
    const clicks = size - LINKS - 1;
    for (let n = 0; n < clicks; n += BATCH) {
      const some = Array.from({ length: Math.min(BATCH, clicks - n) }, (_, m) =>
        linkClicked({ link: `sho.rt/l${m % LINKS}`, at, city: `city ${n + m}` }),
      );
      await append(eventStore, CLICKS, some);
      if (n >= clicks / 2 && n - BATCH < clicks / 2) {
        await seal();
        await eventStore.close();
        await copyFile(untouched, backup);
        eventStore = await openSqliteEventStore(untouched);
      }
    }
    await seal();
    await eventStore.close();
  }, 600_000);
  afterAll(() => folder.remove());

  const copyOf = async (file: string) => {
    copies += 1;
    const dataDir = join(folder.path, `copy-${copies}`);
    await mkdir(dataDir);
    await copyFile(file, join(dataDir, "events.db"));
    return dataDir;
  };
  /** As `audit verify` does it. */
  const verification = async (dataDir: string): Promise<LogVerification> => {
    const log = await embeddedStores({ dataDir }, { readOnly: true }).openVerifiableLog();
    const trust = { publicKeys: [KEYS.publicKey], keyOrigin: "of SECRET_KEY" };
    return await verifyLog({ eventStore: log }, { trust, noted }).finally(log.close);
  };
  const expectNamed = (name: string, { ok, problems, sentence }: LogVerification, named: RegExp) => {
    process.stdout.write(`${size}, ${name}: ${sentence}\n`);
    const all = problems.map((one) => `${one.stream}, revision ${one.revision} ${one.message}`).join("\n");
    expect(ok).toBe(false);
    expect(`${sentence}\n${all}`).toMatch(named);
  };

  it("is proved as it was written", async () => {
    const { sentence, problems } = await verification(await copyOf(untouched));
    expect(problems).toEqual([]);
    expect(sentence).toMatch(
      /^Proved: all [\d,]+ events up to position \d+ .*; no event is without a seal\.$/,
    );
  });

  it.each(Object.entries(EDITS))("says what was done: %s", async (name, [edit, named]) => {
    const dataDir = await copyOf(untouched);
    const db = new DatabaseSync(join(dataDir, "events.db"));
    db.enableDefensive(false);
    edit(db);
    db.close();
    expectNamed(name, await verification(dataDir), named);
  });

  it("says that an older backup was put back", async () => {
    const found = await verification(await copyOf(backup));
    expectNamed(
      "an older backup",
      found,
      /seal \d is not in the log any more, and it is the newest that was made/,
    );
  });

  it("trusts no seal that somebody else made anew", async () => {
    const dataDir = await copyOf(untouched);
    const file = join(dataDir, "events.db");
    const db = new DatabaseSync(file);
    db.exec("DELETE FROM appends WHERE stream = 'seals'");
    db.close();
    await sealAnew(file, sealKeysOf("somebody else's key, which is long enough"));
    expectNamed("sealed anew", await verification(dataDir), /is signed with another key/);
  });
});
