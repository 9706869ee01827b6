// Archiving events of the SQLite log, at any days and in any order with appends, does not change what reads return.
import { deepStrictEqual } from "node:assert";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NewEvent, RecordedEvent } from "../../src/event-store/port.ts";
import { SqliteLog } from "../../src/event-store/sqlite/log.ts";
import { type AppendRequest, appendRequest, requestIds } from "../../src/event-store/sqlite/log-requests.ts";
import { archiveBefore, archiveIn, EVER } from "../support/event-store/archived-event-store.ts";
import { sampleColumns, sampleEvents } from "../support/event-store/sample-events.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";

const DAYS = 6;
const STREAMS = ["clicks-a-1", "clicks-b-1", "clicks-a-2", "link-x", "link-y"];
const START = Date.UTC(2026, 2, 1);
const ALL = { after: 0, categories: ["clicks", "link"], limit: 1_000_000 };

const append = fc.record({
  stream: fc.constantFrom(...STREAMS),
  size: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 4, arbitrary: fc.integer({ min: 20, max: 120 }) },
    { weight: 1, arbitrary: fc.constant(700) },
  ),
  inColumns: fc.boolean(),
});
/** Of one day. */
const appends = fc.array(append, { minLength: 1, maxLength: 60 });
/** After which day events up to which one are archived. */
const archivings = fc.array(fc.record({ after: fc.nat(DAYS - 1), upTo: fc.nat(DAYS) }), { maxLength: 4 });

/** Ids that lie in files are taken, as those in the log are. */
function refuseTakenIds(log: SqliteLog, requests: readonly AppendRequest[]): void {
  const ids = requests.flatMap((request) => requestIds(request));
  const id = ids[Math.floor(ids.length / 3)] as string;
  const events = [...sampleEvents(1), { ...(sampleEvents(1)[0] as NewEvent), id }];
  for (const stream of ["link-new", "clicks-new-1"]) {
    const placed = { recordedAt: new Date(START).toISOString(), compressed: ["clicks"] };
    const conflict = { stream, expected: "none", actual: "none" };
    deepStrictEqual(log.append([appendRequest(stream, "none", events, placed)]), [{ conflict }]);
  }
}

/** Every way of reading, in pages of a limit. */
function readings(log: SqliteLog, limit: number) {
  const paged: RecordedEvent[] = [];
  for (let page = log.readAll({ ...ALL, limit }); page.length > 0; ) {
    paged.push(...page);
    page = log.readAll({ ...ALL, limit, after: Number(page.at(-1)?.position) });
  }
  const streams = STREAMS.map((stream) => {
    const forwards = { stream, from: 0, backwards: false, limit: 1_000_000 };
    const whole = log.read(forwards);
    const from = Math.floor(whole.length / 2);
    return [
      whole,
      log.read({ ...forwards, from, limit: 5 }),
      log.read({ ...forwards, backwards: true, from, limit }),
      log.readAll({ ...ALL, categories: [stream], limit }),
    ];
  });
  return { head: log.head(), all: log.readAll(ALL), paged, streams };
}

describe("archiving", () => {
  it("changes no read and no repeated append, of handles old and new, and neither does restoring", async () => {
    const history = fc.array(appends, { minLength: DAYS, maxLength: DAYS });
    await fc.assert(
      fc.asyncProperty(history, archivings, fc.integer({ min: 50, max: 900 }), async (days, moves, limit) => {
        const folder = await temporaryFolder();
        const [file, plain] = [join(folder.path, "events.db"), join(folder.path, "plain", "events.db")];
        const [log, model] = [new SqliteLog(file), new SqliteLog(plain)];
        const reader = new SqliteLog(file);
        const archive = archiveIn(folder.path);
        const requests: AppendRequest[] = [];
        const outcomes: unknown[] = [];
        const lengths = new Map<string, number>();
        for (const [day, some] of days.entries()) {
          for (const [n, { stream, size, inColumns }] of some.entries()) {
            const length = lengths.get(stream) ?? 0;
            const events =
              inColumns && stream.startsWith("clicks-") ? sampleColumns(size) : sampleEvents(size);
            const recordedAt = new Date(START + day * 86_400_000 + n * 60_000).toISOString();
            const compressed = ["clicks"];
            const request = appendRequest(stream, length === 0 ? "none" : length - 1, events, {
              ...{ recordedAt, compressed },
            });
            requests.push(request);
            lengths.set(stream, length + size);
            const [outcome] = log.append([request]);
            deepStrictEqual(model.append([request]), [outcome]);
            outcomes.push(outcome);
          }
          for (const { upTo } of moves.filter(({ after }) => after === day)) {
            await archiveBefore(archive, new Date(START + upTo * 86_400_000));
            deepStrictEqual(reader.readAll({ ...ALL, limit }), model.readAll({ ...ALL, limit }));
          }
        }
        const expected = readings(model, limit);
        const fresh = new SqliteLog(file);
        for (const one of [log, reader, fresh]) deepStrictEqual(readings(one, limit), expected);
        await archiveBefore(archive, EVER);
        for (const one of [log, reader]) deepStrictEqual(readings(one, limit), expected);
        expect(await archive.problems()).toEqual([]);
        for (const [n, request] of requests.entries()) deepStrictEqual(log.append([request]), [outcomes[n]]);
        refuseTakenIds(log, requests);
        for (const [n, { file: name }] of archive.files().entries())
          if (n % 2 === 0) await archive.restore(name);
        deepStrictEqual(readings(reader, limit), expected);
        expect(await archive.problems()).toEqual([]);
        expect(readdirSync(join(folder.path, "archive")).sort()).toEqual(
          archive
            .files()
            .map((one) => one.file)
            .sort(),
        );
        for (const one of [log, reader, fresh, model, archive]) one.close();
        await folder.remove();
      }),
      { numRuns: Number(process.env.ARCHIVE_RUNS ?? 6) },
    );
  }, 600_000);

  it("leaves newer small batches to be merged by a writer that has begun to count them before", async () => {
    const folder = await temporaryFolder();
    const file = join(folder.path, "events.db");
    const [log, archive] = [new SqliteLog(file), archiveIn(folder.path)];
    let [revision, at] = [-1, START];
    const appendSmall = (batches: number) => {
      for (let n = 0; n < batches; n += 1) {
        const recordedAt = new Date(at).toISOString();
        const placed = { recordedAt, compressed: ["clicks"] };
        log.append([appendRequest("clicks-a-1", revision < 0 ? "none" : revision, sampleEvents(2), placed)]);
        [revision, at] = [revision + 2, at + 1];
      }
    };
    appendSmall(100);
    await archiveBefore(archive, EVER);
    appendSmall(500);
    const db = new DatabaseSync(file, { readOnly: true });
    const sizes = db.prepare("SELECT count FROM segments ORDER BY last_position").all();
    expect(sizes.map(({ count }) => count).slice(0, 2)).toEqual([200, 512]);
    expect(sizes.length).toBeLessThan(300);
    for (const one of [db, log, archive]) one.close();
    await folder.remove();
  });
});
