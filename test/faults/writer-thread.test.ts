// The recorder with its real thread and real files: killed under load, it neither loses nor doubles a click.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beginLog } from "../../src/commands/begin-log.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../src/config/config.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { packTarget, type RawHit } from "../../src/redirect/clicks/hit.ts";
import { ClickRecorder, type RecorderDeps } from "../../src/redirect/clicks/recorder.ts";
import { createLogger } from "../../src/runtime/logging.ts";
import type { Thread } from "../../src/runtime/threads/thread.ts";
import { clickWriterIn, writerThread } from "../../src/service/threads/writer.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { clickedLink } from "../support/redirect/clicked-link.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";

function hit(number: number): RawHit {
  const facts = {
    address: "203.0.113.9",
    country: "",
    userAgent: "curl/8",
    referrer: "",
    language: "",
    prefetch: "",
  };
  return {
    link: packTarget(clickedLink),
    at: Date.now(),
    method: "GET",
    query: `utm_term=${number}`,
    ...facts,
  };
}

describe("the click recorder", () => {
  let folder: TemporaryFolder;
  let store: EventStore;
  let threads: Worker[];
  let writer: Thread;
  let recorder: ClickRecorder;

  function start(options: Partial<RecorderDeps> = {}): ClickRecorder {
    const log = createLogger("silent");
    writer = writerThread(parseConfig({ DATA_DIR: folder.path, GEOIP_DB: "" }), log);
    recorder = new ClickRecorder({
      durability: "batched",
      writer: clickWriterIn(writer),
      random: Math.random,
      newId: randomUUID,
      log,
      ...options,
    });
    return recorder;
  }

  /** The thread starts with the first call, on a busy machine for longer than a redirect waits. */
  async function startDurable(): Promise<void> {
    start({ durability: "durable" });
    await clickWriterIn(writer).status();
  }

  const keep = (thread: Worker) => void threads.push(thread);
  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await openSqliteEventStore(join(folder.path, "events.db"));
    await beginLog({ ...runtimeDeps, eventStore: store });
    threads = [];
    process.on("worker", keep);
  });

  afterEach(async () => {
    process.off("worker", keep);
    await recorder.close();
    await writer.close();
    await store.close();
    await folder.remove();
  });

  async function storedTerms(): Promise<number[]> {
    const events = await loggedEvents(store, { categories: [CATEGORY.clicks], limit: 100_000 });
    return events.map((event) => Number((event.data as { utm: { term: string } }).utm.term));
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

  it("answers a durable hit only when its click is in the store", async () => {
    await startDurable();
    for (const number of numbers(3)) {
      await recorder.record(hit(number));
      expect(await storedTerms()).toEqual(numbers(number + 1));
    }
  });

  it("has stored everything recorded before it says so", async () => {
    start();
    const recording = numbers(1000).map((number) => recorder.record(hit(number)));
    await recorder.storeAll();
    await Promise.all(recording);
    expect(await storedTerms()).toEqual(numbers(1000));
    expect(await recorder.status()).toMatchObject({ recorded: 1000, committed: 1000, waiting: 0, lost: 0 });
  });

  it("neither loses nor doubles a click when its thread is killed repeatedly under load", async () => {
    start();
    let number = 0;
    const recording: (Promise<void> | undefined)[] = [];
    for (let kill = 0; kill < 3; kill++) {
      const before = (await recorder.status()).committed;
      while ((await recorder.status()).committed < before + 1000) {
        for (let i = 0; i < 100; i++) recording.push(recorder.record(hit(number++)));
        await turn();
      }
      const thread = threads.at(-1) as Worker;
      for (let i = 0; i < 700; i++) recording.push(recorder.record(hit(number++)));
      await thread.terminate();
    }
    await Promise.all(recording);
    await recorder.storeAll();
    expect(await storedTerms()).toEqual(numbers(number));
    const { recorded, committed, lost, writerRestarts } = await recorder.status();
    expect([recorded, committed, lost]).toEqual([number, number, 0]);
    expect(writerRestarts).toBeGreaterThanOrEqual(3);
  });

  it("keeps hits up to a number while none can be stored, then counts them, and the log says so once it can", async () => {
    start({ mostKept: 30 });
    recorder.record(hit(0));
    await recorder.storeAll();
    const other = new DatabaseSync(join(folder.path, "events.db"));
    other.exec("BEGIN IMMEDIATE");
    recorder.record(hit(1));
    await until(
      "nothing to be stored for a second",
      async () => (await recorder.status(0)).stall !== undefined,
    );
    for (let number = 2; number < 40; number++) expect(recorder.record(hit(number))).toBeUndefined();
    const { stall, notRecorded, unstored } = await recorder.status(0);
    expect({ stall, notRecorded, unstored }).toEqual({
      stall: { refuses: false },
      notRecorded: { hits: 9, untold: 9 },
      unstored: 30,
    });
    other.exec("ROLLBACK");
    other.close();
    const told = async () => await loggedEvents(store, { categories: [CATEGORY.gaps], limit: 10 });
    await until("the log to say so", async () => (await told()).length > 0);
    expect((await told()).map(({ data }) => (data as { hits: number }).hits)).toEqual([9]);
    await recorder.storeAll();
    expect(await storedTerms()).toEqual(numbers(31));
    expect((await recorder.status()).notRecorded).toEqual({ hits: 9, untold: 0 });
    // The next outage is another gap.
    expect(recorder.record(hit(31))).toBeUndefined();
  });

  it("refuses durable hits at once when a try has failed, stores none of them, and takes the first that it can", async () => {
    await startDurable();
    await recorder.record(hit(0));
    const other = new DatabaseSync(join(folder.path, "events.db"));
    other.exec("BEGIN IMMEDIATE");
    let longestMs = 0;
    const refusal = async () => {
      const asked = performance.now();
      const answer = await recorder.record(hit(1))?.catch((error: Error) => error.message);
      longestMs = Math.max(longestMs, performance.now() - asked);
      return answer;
    };
    expect(await refusal()).toContain("could not be stored");
    const began = performance.now();
    for (let n = 0; n < 100; n++) await refusal();
    // One of them may be the next try, which waits for the lock.
    expect(performance.now() - began).toBeLessThan(stretched(1_000));
    other.exec("ROLLBACK");
    other.close();
    await until(
      "a hit to be taken",
      () => recorder.record(hit(2))?.then(...[() => true, () => false]) ?? false,
    );
    const stored = await storedTerms();
    // On a machine so busy that a hit was refused before its try had failed, that may have been stored.
    expect(longestMs < 850 ? stored : stored.filter((term) => term !== 1)).toEqual([0, 2]);
  });

  it("says how many clicks are lost when it must stop while the store takes none", async () => {
    const logged: string[] = [];
    start({ log: { warn: (_: unknown, message?: string) => void logged.push(message ?? "") } });
    recorder.record(hit(0));
    await recorder.storeAll();
    const other = new DatabaseSync(join(folder.path, "events.db"));
    other.exec("BEGIN IMMEDIATE");
    for (const number of [1, 2]) recorder.record(hit(number));
    const closed = recorder.close(100);
    const lost = "Stopping: 2 answered clicks are not stored, and will be lost";
    await until("the log to say so", () => logged.includes(lost));
    other.exec("ROLLBACK");
    other.close();
    await closed;
    expect(await storedTerms()).toEqual(numbers(3));
  });
});
