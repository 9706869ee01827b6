// Random SQL on the file of a sealed log: `audit verify` names an event that it touched.
import { randomUUID } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Sealer } from "../../src/audit/seals/sealer.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { KEYS } from "../support/audit/keys.ts";
import { verified } from "../support/audit/verified.ts";
import { linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const EDITS = effort(5, 15);

const noted = { get: async () => undefined, set: async () => undefined };
const clock = () => new Date();
const [BLOCKS, LINKS, CLICKS] = [3, 6, 20];
const STREAM = "clicks-a-20260301";
/** Each block: its links, each appended alone, its clicks in one compressed append, its seal. */
const BLOCK = LINKS + CLICKS + 1;

let folder: TemporaryFolder;
let untouched: string;
let copies = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  untouched = join(folder.path, "events.db");
  const eventStore = await openSqliteEventStore(untouched);
  const sealer = await Sealer.open({ eventStore, keys: [KEYS], noted, clock, newId: randomUUID });
  const at = new Date().toISOString();
  const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
  for (let block = 0; block < BLOCKS; block += 1) {
    for (let n = 0; n < LINKS; n += 1)
      await append(eventStore, `link-sho.rt/l${block}${n}`, [linkCreated({ slug: `l${block}${n}`, at })]);
    const clicks = Array.from({ length: CLICKS }, (_, n) =>
      newEvent(linkClicked({ link: `sho.rt/l${block}0`, at, city: `${block} ${n}` }), randomUUID(), origin),
    );
    await eventStore.append(STREAM, block === 0 ? "none" : block * CLICKS - 1, clicks);
    while (await sealer.read());
    await sealer.seal();
  }
  await eventStore.close();
});
afterAll(() => folder.remove());

/** `touched`: places of which one must be named. */
type Edit = { sql: string; touched: string[] };

const alone = fc.record({ block: fc.nat(BLOCKS - 1), n: fc.nat(LINKS - 1) }).map(({ block, n }) => ({
  position: block * BLOCK + n + 1,
  place: `link-sho.rt/l${block}${n}@0`,
}));
const together = fc.nat(BLOCKS - 1).map((block) => ({
  last: block * BLOCK + LINKS + CLICKS,
  places: Array.from({ length: CLICKS }, (_, n) => `${STREAM}@${block * CLICKS + n}`),
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
  fc.record({ event: alone, change: fc.constantFrom(...changes) }).map(({ event, change }) => ({
    sql: `UPDATE appends SET ${change} WHERE position = ${event.position}`,
    touched: [event.place],
  })),
  alone.map(({ position, place }) => ({
    sql: `DELETE FROM appends WHERE position = ${position}`,
    touched: [place],
  })),
  fc
    .tuple(alone, alone)
    .filter(([a, b]) => a.position !== b.position)
    .map(([a, b]) => ({
      sql: `UPDATE appends SET position = -1 WHERE position = ${a.position};
            UPDATE appends SET position = ${a.position} WHERE position = ${b.position};
            UPDATE appends SET position = ${b.position} WHERE position = -1`,
      touched: [a.place, b.place],
    })),
  together.map(({ last, places }) => ({
    sql: `DELETE FROM appends WHERE position = ${last}`,
    touched: places,
  })),
  fc
    .tuple(together, together)
    .filter(([a, b]) => a.last !== b.last)
    .map(([a, b]) => ({
      sql: `UPDATE appends SET body = (SELECT body FROM appends WHERE position = ${b.last})
            WHERE position = ${a.last}`,
      touched: a.places,
    })),
  together.map(({ last, places }) => ({
    sql: `UPDATE appends SET recorded_at = '2020-01-01T00:00:00.000Z' WHERE position = ${last}`,
    touched: places,
  })),
  fc.record({ n: fc.nat(BLOCKS - 1), member: fc.constantFrom("root", "marks", "at", "signature") }).map(
    ({ n, member }): Edit => ({
      sql: `UPDATE appends SET body = json_set(body, '$[0].data.${member}', 'x')
            WHERE stream = 'seals' AND revision = ${n}`,
      touched: [`seals@${n}`],
    }),
  ),
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
          const { problems } = await verified(eventStore);
          const named = problems
            .filter(({ check }) => check === "seal")
            .some(({ stream, revision }) => touched.includes(`${stream}@${revision}`));
          expect({ sql, named }).toEqual({ sql, named: true });
        } finally {
          await eventStore.close();
        }
      }),
      { numRuns: EDITS },
    );
  });
});
