// events.db edited by hand, in appends that are text and in compressed ones: `audit verify` names what was edited.
import { randomUUID } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealKeysOf } from "../../../src/audit/seals/seal-keys.ts";
import { Sealer } from "../../../src/audit/seals/sealer.ts";
import { verifySealedLog } from "../../../src/audit/verify-sealed-log.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { storesOf } from "../../../src/service/stores/backend.ts";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const keys = sealKeysOf("the key of this test");
const clock = () => new Date();
const at = new Date().toISOString();
const CLICKS = "clicks-a-20260301";
const LINKS = 20;
const BATCH = 50;
/** Position of the first click of each block: after the account's and the links' events, and the block's seal. */
const FIRST_CLICK = 1 + LINKS + 1;
const SECOND_BLOCK = `WHERE stream = '${CLICKS}' AND revision = 99`;

let folder: TemporaryFolder;
let untouched: string;
let copies = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  untouched = join(folder.path, "events.db");
  const eventStore = await openSqliteEventStore(untouched);
  let known: string | undefined;
  const newest = {
    get: async () => known,
    async set(to: string) {
      known = to;
    },
    forget: async () => undefined,
  };
  const sealer = await Sealer.open({ eventStore, keys: [keys], newest, clock, newId: randomUUID });
  await append(eventStore, `account-${ACCOUNT}`, [
    { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
  ]);
  for (let n = 0; n < LINKS; n += 1)
    await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}`, at })]);
  const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
  for (let block = 0; block < 3; block += 1) {
    const events = Array.from({ length: BATCH }, (_, n) =>
      newEvent(
        linkClicked({ link: `sho.rt/l${n % LINKS}`, at, city: `${block} ${n}` }),
        randomUUID(),
        origin,
      ),
    );
    await eventStore.append(CLICKS, block === 0 ? "none" : block * BATCH - 1, events);
    while (await sealer.read());
    await sealer.seal();
  }
  await eventStore.close();
});
afterAll(() => folder.remove());

/** What a verification says after the SQL. */
async function problemsAfter(...statements: string[]): Promise<string[]> {
  copies += 1;
  const dataDir = join(folder.path, `copy-${copies}`);
  await mkdir(dataDir);
  const file = join(dataDir, "events.db");
  await copyFile(untouched, file);
  const db = new DatabaseSync(file);
  db.enableDefensive(false);
  for (const sql of statements) db.exec(sql);
  db.close();
  const verifiable = await storesOf({ dataDir }, { offThread: false, readOnly: true }).openVerifiableLog();
  try {
    const newest = { get: async () => undefined };
    const found = await verifySealedLog({ ...verifiable, clock, keys: [keys], newest });
    expect(found.ok).toBe(found.problems.length === 0);
    return found.problems
      .filter(({ check }) => check === "seal" || check === "file")
      .map((one) => `${one.stream}@${one.revision} ${Number(one.position) || "-"}: ${one.message}`);
  } finally {
    await verifiable.close();
  }
}

describe("events.db", () => {
  it("is as it was sealed", async () => {
    expect(await problemsAfter()).toEqual([]);
  });

  it("that lost an append names each of its clicks", async () => {
    const found = await problemsAfter(`DELETE FROM appends ${SECOND_BLOCK}`);
    const lost = Array.from(
      { length: BATCH },
      (_, n) => `${CLICKS}@${BATCH + n} ${FIRST_CLICK + BATCH + 1 + n}: was removed`,
    );
    expect(found).toEqual(lost);
  });

  it("with an append that can't be read names each of its clicks", async () => {
    const found = await problemsAfter(`UPDATE appends SET body = x'00' ${SECOND_BLOCK}`);
    expect(found).toHaveLength(BATCH);
    expect(found[0]).toBe(`${CLICKS}@${BATCH} ${FIRST_CLICK + BATCH + 1}: was changed`);
  });

  it("says what SQLite finds wrong with its file, such as a row that an index lacks", async () => {
    const found = await problemsAfter(
      "CREATE TABLE pairs (a, b)",
      "CREATE INDEX of_pairs ON pairs (a)",
      "INSERT INTO pairs VALUES (1, 2)",
      "PRAGMA writable_schema = ON",
      "UPDATE sqlite_schema SET sql = 'CREATE INDEX of_pairs ON pairs (b)' WHERE name = 'of_pairs'",
    );
    expect(found).toEqual(["@-1 -: events.db is damaged: row 1 missing from index of_pairs"]);
  });

  it("with an edited seal names the seal", async () => {
    const found = await problemsAfter(
      "UPDATE appends SET body = replace(body, '\"total\":71', '\"total\":70') WHERE stream = 'seals' AND revision = 0",
    );
    expect(found).toEqual([`seals@0 ${FIRST_CLICK + BATCH}: seal 0 is not the seal that seal 1 follows`]);
  });

  it("without a seal between others names the seal", async () => {
    const found = await problemsAfter("DELETE FROM appends WHERE stream = 'seals' AND revision = 1");
    expect(found).toEqual(["seals@1 -: seal 1 was removed"]);
  });

  it("without its newest seal looks unsealed at the end: only what is kept elsewhere tells", async () => {
    expect(await problemsAfter("DELETE FROM appends WHERE stream = 'seals' AND revision = 2")).toEqual([]);
  });
});
