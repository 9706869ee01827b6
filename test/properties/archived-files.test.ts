// Archive files that were edited, cut, swapped or removed are named by `audit verify`, with the clicks that they held.
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archiveLog } from "../../src/audit/archive-log.ts";
import { sealKeysOf } from "../../src/audit/seals/seal-keys.ts";
import { verifySealedLog } from "../../src/audit/verify-sealed-log.ts";
import type { ArchiveFile, LogArchive } from "../../src/event-store/log-archive.ts";
import type { EventStore } from "../../src/event-store/port.ts";
import { textOfBody } from "../../src/event-store/sqlite/batch-body.ts";
import { BATCH_COLUMNS, type StoredBatch } from "../../src/event-store/sqlite/batch-schema.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { mergedBody } from "../../src/event-store/sqlite/merged-body.ts";
import { partsOf } from "../../src/event-store/sqlite/stored-batch.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { archiveIn } from "../support/event-store/archived-event-store.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

/** ARCHIVE_EDITS=5000 for the figure in docs/archive.md. */
const EDITS = Number(process.env.ARCHIVE_EDITS ?? 150);
const [DAYS, APPENDS, AN_APPEND] = [3, 7, 800];
const START = Date.UTC(2026, 2, 1);
const keys = sealKeysOf("the key of this test");
const newest = { get: async () => undefined, set: async () => undefined, forget: async () => undefined };
const clock = () => new Date(START + 10 * 86_400_000);

let folder: TemporaryFolder;
let eventStore: EventStore;
let archive: LogArchive;
let files: ArchiveFile[];
let contents: Buffer[];

beforeAll(async () => {
  folder = await temporaryFolder();
  let now = START;
  const log = join(folder.path, "events.db");
  const store = await openSqliteEventStore(log, { clock: () => new Date(now) });
  const at = new Date(START).toISOString();
  await append(store, `account-${ACCOUNT}`, [
    { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
  ]);
  await append(store, "link-sho.rt/abc", [linkCreated({ at })]);
  const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
  for (let n = 0; n < DAYS * APPENDS; n += 1) {
    now = START + Math.floor(n / APPENDS) * 86_400_000 + n * 60_000;
    const clicks = Array.from({ length: AN_APPEND }, (_, c) =>
      newEvent(
        linkClicked({ at: new Date(now).toISOString(), city: `city ${n} ${c}` }),
        randomUUID(),
        origin,
      ),
    );
    await store.append("clicks-a", n === 0 ? "none" : n * AN_APPEND - 1, clicks);
  }
  await store.close();
  eventStore = await openForVerification();
  archive = archiveIn(folder.path);
  await archiveAll();
});
afterAll(async () => {
  archive.close();
  await eventStore.close();
  await folder.remove();
});

const openForVerification = () =>
  openSqliteEventStore(join(folder.path, "events.db"), { skipUnreadable: true });

async function archiveAll(): Promise<void> {
  const deps = { archive, eventStore, keys: [keys] as const, newest, clock, newId: randomUUID };
  files = await archiveLog(deps, new Date(START + DAYS * 86_400_000));
  contents = files.map(({ file }) => readFileSync(pathOf(file)));
}

function pathOf(file: string): string {
  return join(folder.path, "archive", file);
}

const verified = (full: boolean) =>
  verifySealedLog({ eventStore, archive, clock, keys: [keys], newest }, { full });

type Edit = { of: number; how: string; change(content: Buffer): Uint8Array | undefined };

const edit: fc.Arbitrary<Edit> = fc.nat(DAYS - 1).chain((of) =>
  fc
    .record({
      where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      byte: fc.integer({ min: 1, max: 255 }),
    })
    .chain(({ where, byte }) => {
      const at = (content: Buffer) => Math.floor(where * content.length);
      const edits: Omit<Edit, "of">[] = [
        {
          how: `byte ${where} xor ${byte}`,
          change: (content) => content.with(at(content), (content[at(content)] as number) ^ byte),
        },
        { how: `cut at ${where}`, change: (content) => content.subarray(0, at(content)) },
        { how: "removed", change: () => undefined },
        { how: "swapped", change: () => contents[(of + 1) % DAYS] },
        {
          how: `without the byte at ${where}`,
          change: (content) =>
            Buffer.concat([content.subarray(0, at(content)), content.subarray(at(content) + 1)]),
        },
        {
          how: `${byte} inserted at ${where}`,
          change: (content) =>
            Buffer.concat([content.subarray(0, at(content)), Buffer.of(byte), content.subarray(at(content))]),
        },
        { how: `${byte} at its end`, change: (content) => Buffer.concat([content, Buffer.of(byte)]) },
      ];
      return fc.constantFrom(...edits).map((one) => ({ of, ...one }));
    }),
);

describe("an archive file", () => {
  it("that was edited at random is named, with a stream and a position of its clicks", async () => {
    expect(await verified(true)).toMatchObject({ ok: true, problems: [] });
    await fc.assert(
      fc.asyncProperty(edit, async ({ of, change }) => {
        const { file, from, to } = files[of] as ArchiveFile;
        const content = contents[of] as Buffer;
        const edited = change(content);
        if (edited) writeFileSync(pathOf(file), edited);
        else rmSync(pathOf(file));
        const { ok, problems } = await verified(false);
        writeFileSync(pathOf(file), content);
        expect(ok).toBe(false);
        const named = problems.map(({ check, stream, position, message }) => ({
          ...{ check, stream, isInFile: position >= from && position <= to },
          file: message.split(" ")[0],
        }));
        expect([...new Set(named.map((one) => JSON.stringify(one)))]).toEqual([
          JSON.stringify({ check: "archive", stream: "clicks-a", isInFile: true, file: `archive/${file}` }),
        ]);
      }),
      { numRuns: EDITS },
    );
  }, 3_600_000);

  it("that was written anew from edited clicks, with all its digests, is named by the seals", async () => {
    const { file } = files[1] as ArchiveFile;
    await archive.restore(file);
    const db = new DatabaseSync(join(folder.path, "events.db"));
    const batch = db
      .prepare(
        `SELECT ${BATCH_COLUMNS} FROM segments WHERE stream = 'clicks-a' AND last_revision >= ? LIMIT 1`,
      )
      .get(APPENDS * AN_APPEND) as StoredBatch;
    const { runs, parts } = partsOf(batch);
    const edited = parts.map(({ count, body }) => {
      const text = textOfBody(body).toString().replace("city 8 123", "city 8 321");
      return { count, body: zstdCompressSync(text) };
    });
    db.prepare("UPDATE segments SET body = ? WHERE last_position = ?").run(
      mergedBody(runs, edited),
      batch.last_position,
    );
    db.close();
    await archiveAll();
    // As each verification does: a store keeps what it has decoded before.
    await eventStore.close();
    eventStore = await openForVerification();
    expect(await archive.problems()).toEqual([]);
    const { problems } = await verified(true);
    expect(problems).toMatchObject([
      { check: "seal", stream: "clicks-a", revision: 8 * AN_APPEND + 123, message: "was changed" },
    ]);
  });
});
