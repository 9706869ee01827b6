// The recorder with its real thread and real files: killed under load, it neither loses nor duplicates a click.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { ClickRecorder, type ClickRecorderDeps } from "../../src/redirect/clicks/click-recorder.ts";
import { packTarget, type RawHit } from "../../src/redirect/clicks/hit.ts";
import { recorderThreadStarter } from "../../src/service/threads/start-recorder-thread.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { clickedLink } from "../support/redirect/clicked-link.ts";
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
  let recorder: ClickRecorder;

  const realThreads = () =>
    recorderThreadStarter(
      parseConfig({ DATA_DIR: folder.path, GEOIP_DB: "" }),
      randomBytes(8).toString("hex"),
    );

  function start(options: Partial<ClickRecorderDeps> = {}): ClickRecorder {
    const startReal = realThreads();
    recorder = new ClickRecorder({
      durability: "batched",
      startThread: (revisions) => {
        const thread = startReal(revisions) as Worker;
        threads.push(thread);
        return thread;
      },
      random: Math.random,
      log: () => undefined,
      ...options,
    });
    return recorder;
  }

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await openSqliteEventStore(join(folder.path, "events.db"));
    threads = [];
  });

  afterEach(async () => {
    await recorder.close();
    await store.close();
    await folder.remove();
  });

  async function storedTerms(): Promise<number[]> {
    const events = await store.readAll({ categories: [CATEGORY.clicks], limit: 100_000 });
    return events.map((event) => Number((event.data as { utm: { term: string } }).utm.term));
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

  it("answers a durable hit only when its click is in the store", async () => {
    start({ durability: "durable" });
    for (const number of numbers(3)) {
      await recorder.record(hit(number));
      expect(await storedTerms()).toEqual(numbers(number + 1));
    }
  });

  it("commits everything recorded before drain resolves", async () => {
    start();
    // All at the same time, because redirects wait once the oldest uncommitted hit is 40 ms old.
    const { at } = hit(0);
    for (const number of numbers(1000)) expect(recorder.record({ ...hit(number), at })).toBeUndefined();
    await recorder.drain();
    expect(await storedTerms()).toEqual(numbers(1000));
    expect(recorder.stats()).toMatchObject({ recorded: 1000, committed: 1000, backlog: 0, lost: 0 });
  });

  it("neither loses nor duplicates a click when its thread is killed repeatedly under load", async () => {
    start();
    let number = 0;
    const inPace: (Promise<void> | undefined)[] = [];
    for (let kill = 0; kill < 3; kill++) {
      const before = recorder.stats().committed;
      while (recorder.stats().committed < before + 1000) {
        for (let i = 0; i < 100 && recorder.stats().backlog < 2000; i++) {
          inPace.push(recorder.record(hit(number++)));
        }
        await turn();
      }
      const thread = threads.at(-1) as Worker;
      const ended = once(thread, "exit");
      for (let i = 0; i < 700; i++) inPace.push(recorder.record(hit(number++)));
      await Promise.all([thread.terminate(), ended]);
    }
    await Promise.all(inPace);
    await recorder.drain();
    expect(await storedTerms()).toEqual(numbers(number));
    expect(recorder.stats()).toMatchObject({
      recorded: number,
      committed: number,
      lost: 0,
      threadRestarts: 3,
    });
  });

  it("says how many clicks are lost when it must stop while the store takes none", async () => {
    const logged: string[] = [];
    start({ log: (message) => logged.push(message) });
    recorder.record(hit(0));
    await recorder.drain();
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
