// Merging small batches of compressed streams in the SQLite log does not change what reads return.
import { deepStrictEqual } from "node:assert";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ExpectedRevision, NewEvent, RecordedEvent } from "../../src/event-store/port.ts";
import { type PlacedRun, placedRuns, runsOf } from "../../src/event-store/sqlite/batch-runs.ts";
import { SqliteLog } from "../../src/event-store/sqlite/log.ts";
import { appendRequest } from "../../src/event-store/sqlite/log-requests.ts";
import { positionText } from "../../src/event-store/sqlite/positions.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";

const COMPRESSED = ["clicks"];

async function newLog() {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "events.db");
  const log = new SqliteLog(file);
  let minute = 0;
  const request = (stream: string, expected: ExpectedRevision, events: NewEvent[]) => {
    const recordedAt = new Date(Date.UTC(2026, 2, 1) + 60_000 * minute++).toISOString();
    return appendRequest(stream, expected, events, { recordedAt, compressed: COMPRESSED });
  };
  const batchSizes = () => {
    const db = new DatabaseSync(file, { readOnly: true });
    const found = db.prepare("SELECT count FROM segments ORDER BY last_position").all();
    db.close();
    return found.map(({ count }) => Number(count));
  };
  return { file, log, request, batchSizes };
}

const all = { after: 0, categories: ["clicks", "link"], limit: 1_000_000 };

describe("event batches of the SQLite log", () => {
  it("are merged when they are small, and read as before: in pages, by stream, by handles old and new", async () => {
    const step = fc.record({
      stream: fc.constantFrom("clicks-a-1", "clicks-a-1", "clicks-b-1", "link-x"),
      size: fc.oneof(
        { weight: 40, arbitrary: fc.integer({ min: 1, max: 3 }) },
        { weight: 2, arbitrary: fc.integer({ min: 20, max: 120 }) },
        { weight: 1, arbitrary: fc.constant(600) },
      ),
    });
    const steps = fc.array(step, { minLength: 200, maxLength: 500 });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 100, max: 900 }), async (history, limit) => {
        const { file, log, request, batchSizes } = await newLog();
        const reader = new SqliteLog(file);
        const model: Omit<RecordedEvent, "type" | "data" | "metadata">[] = [];
        const lengths = new Map<string, number>();
        const appends = history.map(({ stream, size }) => {
          const length = lengths.get(stream) ?? 0;
          const events = sampleEvents(size);
          const append = request(stream, length === 0 ? "none" : length - 1, events);
          for (const [index, { id }] of events.entries())
            model.push({
              ...{ id, stream, revision: length + index, position: positionText(model.length + 1) },
              recordedAt: append.recordedAt,
            });
          lengths.set(stream, length + size);
          return { append, outcome: { revision: length + size - 1, position: model.length } };
        });
        // Several per transaction, to keep the test fast.
        for (let first = 0; first < appends.length; first += 7) {
          const some = appends.slice(first, first + 7);
          expect(log.append(some.map(({ append }) => append))).toEqual(some.map(({ outcome }) => outcome));
          if (first % 35 > 0) continue;
          const after = Math.max(0, log.head() - 700);
          expect(reader.readAll({ ...all, after })).toHaveLength(log.head() - after);
        }
        expect(batchSizes().filter((count) => count < 40).length).toBeLessThan(history.length / 2 + 20);
        for (const one of [log, reader, new SqliteLog(file)]) {
          expect(one.head()).toBe(model.length);
          const paged: RecordedEvent[] = [];
          for (let page = one.readAll({ ...all, limit }); page.length > 0; ) {
            paged.push(...page);
            page = one.readAll({ ...all, limit, after: Number(page.at(-1)?.position ?? 0) });
          }
          // Thousands of rows: comparing them with `toEqual` takes longer than reading them.
          deepStrictEqual(paged.map(withoutBody), model);
          for (const stream of lengths.keys()) {
            const ofStream = model.filter((event) => event.stream === stream);
            const whole = { stream, from: 0, backwards: false, limit: 1_000_000 };
            deepStrictEqual(one.read(whole).map(withoutBody), ofStream);
            const from = Math.floor(ofStream.length / 2);
            deepStrictEqual(
              one.read({ ...whole, backwards: true, from, limit }).map(withoutBody),
              ofStream.slice(Math.max(0, from + 1 - limit), from + 1).reverse(),
            );
            const ofPrefix = one.readAll({ ...all, categories: [stream], limit });
            deepStrictEqual(ofPrefix.map(withoutBody), ofStream.slice(0, limit));
          }
          one.close();
        }
      }),
      { numRuns: 5 },
    );
  }, 120_000);

  it("take a tenth of the space when each append has one event, merged across a change of stream", async () => {
    const { file, log, request, batchSizes } = await newLog();
    const metadata = {
      schemaVersion: 1,
      correlationId: "c",
      causationId: "c",
      actor: { type: "operator" as const },
    };
    const appends = Array.from({ length: 2_048 }, (_, n) => {
      const data = { text: "the same thing again ".repeat(40), n };
      const stream = n < 1_000 ? "clicks-a-1" : "clicks-b-1";
      const expected = n === 0 || n === 1_000 ? "none" : (n < 1_000 ? n : n - 1_000) - 1;
      return request(stream, expected, [{ ...(sampleEvents(1)[0] as NewEvent), data, metadata }]);
    });
    for (let n = 0; n < appends.length; n += 32) log.append(appends.slice(n, n + 32));
    expect(batchSizes()).toEqual([512, 512, 512, 512]);
    log.close();
    // SQLite reuses the pages that merging has freed.
    expect((await stat(file)).size).toBeLessThan(1_000_000);
    const again = new SqliteLog(file);
    expect(again.read({ stream: "clicks-a-1", from: 998, backwards: false, limit: 10 })).toHaveLength(2);
    expect(again.read({ stream: "clicks-b-1", from: 0, backwards: false, limit: 10 })).toHaveLength(10);
    again.close();
  });

  it("answer an append that is repeated after they were merged as the first time", async () => {
    const { log, request, batchSizes } = await newLog();
    const appends = Array.from({ length: 600 }, (_, n) =>
      request("clicks-a-1", n === 0 ? "none" : n - 1, sampleEvents(1)),
    );
    const first = [0, 1, 2].flatMap((third) => log.append(appends.slice(third * 200, third * 200 + 200)));
    expect(batchSizes()[0]).toBe(512);
    expect(log.append(appends)).toEqual(first);
    expect(log.head()).toBe(600);
    log.close();
  });

  it("refuse an id that is already in the log, in a row or in a batch", async () => {
    const { log, request } = await newLog();
    const [row, one, other] = [sampleEvents(1), sampleEvents(1), sampleEvents(40)];
    const many = Array.from({ length: 600 }, () => sampleEvents(1));
    log.append(many.map((events, n) => request("clicks-m-1", n === 0 ? "none" : n - 1, events)));
    log.append([request("link-a", "none", row), request("clicks-a-1", "none", one)]);
    log.append([request("clicks-b-1", "none", other)]);
    const head = log.head();
    const taken = [row, one, other.slice(7, 8), many[3] ?? [], many[599] ?? []];
    for (const events of taken) {
      const fresh = sampleEvents(2);
      for (const stream of ["link-new", "clicks-new-1"]) {
        const [outcome] = log.append([request(stream, "none", [...fresh, ...events])]);
        expect(outcome).toEqual({ conflict: { stream, expected: "none", actual: "none" } });
      }
    }
    const twice = sampleEvents(1);
    expect(log.append([request("clicks-new-1", "none", [...twice, ...twice])])[0]).toHaveProperty("conflict");
    expect(log.head()).toBe(head);
    log.close();
  });

  it("show a person with sqlite3 what is in the log", async () => {
    const { file, log, request } = await newLog();
    log.append([request("link-a", "none", sampleEvents(1)), request("clicks-a-1", "none", sampleEvents(3))]);
    log.close();
    const db = new DatabaseSync(file, { readOnly: true });
    const shown = db.prepare("SELECT position, stream, type FROM log").all();
    db.close();
    expect(shown.map((line) => ({ ...line }))).toEqual([
      { position: 1, stream: "link-a", type: "Sampled" },
      { position: 4, stream: "clicks-a-1", type: "3 events" },
    ]);
  });
});

describe("the runs of a merged batch", () => {
  it("give back every event's place", () => {
    const run = fc.record({
      stream: fc.constantFrom("a", "b", "c"),
      count: fc.integer({ min: 1, max: 5 }),
      positions: fc.nat(3),
      revisions: fc.nat(2),
      ms: fc.integer({ min: -5, max: 1_000 }),
    });
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 50 }), (runs) => {
        const next = { position: 1_000, at: Date.UTC(2026, 4, 1), revision: new Map<string, number>() };
        const placed = runs.map(({ stream, count, positions, revisions, ms }) => {
          const position = next.position + positions;
          const revision = (next.revision.get(stream) ?? 7) + revisions;
          next.at += ms;
          next.position = position + count;
          next.revision.set(stream, revision + count);
          return { stream, revision, position, recordedAt: new Date(next.at).toISOString(), count };
        });
        // Runs may become one, so each event's own place is compared.
        expect(placedRuns(runsOf(placed)).flatMap(eventPlaces)).toEqual(placed.flatMap(eventPlaces));
      }),
    );
  });
});

function eventPlaces({ stream, revision, position, recordedAt, count }: PlacedRun) {
  return Array.from({ length: count }, (_, n) => {
    return { stream, revision: revision + n, position: position + n, recordedAt };
  });
}

function withoutBody({ id, stream, revision, position, recordedAt }: RecordedEvent) {
  return { id, stream, revision, position, recordedAt };
}
