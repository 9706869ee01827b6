// Random SQL on the file of a sealed log: `audit verify` names an event that it touched.
import { randomUUID } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealKeysOf } from "../../src/audit/seals/seal-keys.ts";
import { Sealer } from "../../src/audit/seals/sealer.ts";
import { verifySealedLog } from "../../src/audit/verify-sealed-log.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const EDITS = effort(5, 15);

const keys = sealKeysOf("the key of this test");
const newest = { get: async () => undefined, set: async () => undefined, forget: async () => undefined };
const clock = () => new Date();
const [BLOCKS, LINKS, CLICKS] = [3, 6, 20];
/** Each block: its links, each appended alone, its clicks in one compressed append, its seal. */
const BLOCK = LINKS + CLICKS + 1;

let folder: TemporaryFolder;
let untouched: string;
let copies = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  untouched = join(folder.path, "events.db");
  const eventStore = await openSqliteEventStore(untouched);
  const sealer = await Sealer.open({ eventStore, keys: [keys], newest, clock, newId: randomUUID });
  const at = new Date().toISOString();
  const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
  for (let block = 0; block < BLOCKS; block += 1) {
    for (let n = 0; n < LINKS; n += 1)
      await append(eventStore, `link-sho.rt/l${block}${n}`, [linkCreated({ slug: `l${block}${n}`, at })]);
    const clicks = Array.from({ length: CLICKS }, (_, n) =>
      newEvent(linkClicked({ link: `sho.rt/l${block}0`, at, city: `${block} ${n}` }), randomUUID(), origin),
    );
    const stream = "clicks-a-20260301";
    await eventStore.append(stream, block === 0 ? "none" : block * CLICKS - 1, clicks);
    while (await sealer.read());
    await sealer.seal();
  }
  await eventStore.close();
});
afterAll(() => folder.remove());

/** `touched`: positions of which one must be named. */
type Edit = { sql: string; touched: number[] };

const alone = fc
  .record({ block: fc.nat(BLOCKS - 1), n: fc.nat(LINKS - 1) })
  .map(({ block, n }) => block * BLOCK + n + 1);
const together = fc.nat(BLOCKS - 1).map((block) => ({
  last: block * BLOCK + LINKS + CLICKS,
  positions: Array.from({ length: CLICKS }, (_, n) => block * BLOCK + LINKS + 1 + n),
}));
const changes = [
  "body = replace(body, 'example.com', 'evil.example')",
  "body = json_set(body, '$[0].data.custom', json('true'))",
  "body = json_remove(body, '$[0].data.keyId')",
  "body = json_insert(body, '$[0].data.later', 1)",
  "body = json_set(body, '$[0].type', 'LinkEnabled')",
  "body = json_insert(body, '$[1]', json_extract(body, '$[0]'))",
  "recorded_at = '2020-01-01T00:00:00.000Z'",
  "revision = 1",
  "body = json_set(body, '$[0].id', 'x')",
  "stream = stream || 'x'",
  "body = replace(body, 'operator', 'system')",
];
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ position: alone, change: fc.constantFrom(...changes) }).map(({ position, change }) => ({
    sql: `UPDATE appends SET ${change} WHERE position = ${position}`,
    touched: [position],
  })),
  alone.map((position) => ({ sql: `DELETE FROM appends WHERE position = ${position}`, touched: [position] })),
  fc
    .tuple(alone, alone)
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => ({
      sql: `UPDATE appends SET position = -1 WHERE position = ${a};
            UPDATE appends SET position = ${a} WHERE position = ${b};
            UPDATE appends SET position = ${b} WHERE position = -1`,
      touched: [a, b],
    })),
  together.map(({ last, positions }) => ({
    sql: `DELETE FROM appends WHERE position = ${last}`,
    touched: positions,
  })),
  fc
    .tuple(together, together)
    .filter(([a, b]) => a.last !== b.last)
    .map(([a, b]) => ({
      sql: `UPDATE appends SET body = (SELECT body FROM appends WHERE position = ${b.last})
            WHERE position = ${a.last}`,
      touched: a.positions,
    })),
  together.map(({ last, positions }) => ({
    sql: `UPDATE appends SET recorded_at = '2020-01-01T00:00:00.000Z' WHERE position = ${last}`,
    touched: positions,
  })),
);

describe("the file of a sealed log", () => {
  it("names what random SQL touched, in appends that are text and in compressed ones", async () => {
    await fc.assert(
      fc.asyncProperty(edit, async ({ sql, touched }) => {
        copies += 1;
        const file = join(folder.path, `copy-${copies}.db`);
        await copyFile(untouched, file);
        const db = new DatabaseSync(file);
        db.exec("PRAGMA ignore_check_constraints = ON");
        db.exec(sql);
        db.close();
        const eventStore = await openSqliteEventStore(file);
        try {
          const { problems } = await verifySealedLog({ eventStore, clock, keys: [keys], newest });
          const named = problems
            .filter(({ check }) => check === "seal")
            .map(({ position }) => Number(position));
          expect({ sql, named: named.some((position) => touched.includes(position)) }).toEqual({
            sql,
            named: true,
          });
        } finally {
          await eventStore.close();
        }
      }),
      { numRuns: EDITS },
    );
  });
});
