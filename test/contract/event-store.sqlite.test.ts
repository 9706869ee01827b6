// The event store contract on SQLite, in the caller's thread and with the writer thread, and tests of the SQLite adapter alone.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { StoreFailed, StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { type EventStore, START } from "../../src/stores/event-store/port.ts";
import { prefixedEventStore } from "../../src/stores/event-store/prefixed-event-store.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { openLogFile } from "../../src/stores/event-store/sqlite/log-file.ts";
import { appendRequest, LogFileWriter } from "../../src/stores/event-store/sqlite/write-log.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import { openSqliteLog } from "../support/event-store/sqlite-log.ts";
import { subscribed } from "../support/event-store/subscribed.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { type EventStoreFixture, eventStoreContract } from "./event-store.ts";

const CHILD = fileURLToPath(new URL("../support/event-store/append-for-ever.ts", import.meta.url));

async function openFixture(inCallersThread: boolean): Promise<EventStoreFixture> {
  const folder = await temporaryFolder();
  const open = () => openSqliteLog(folder.path, inCallersThread);
  const store = await open();
  return {
    store,
    prefix: `t${randomBytes(4).toString("hex")}`,
    openAnother: open,
    startAppending: (stream) =>
      spawn(process.execPath, [CHILD, stream, folder.path, String(inCallersThread)], {
        stdio: ["ignore", "pipe", "inherit"],
      }),
    close: async () => {
      await store.close();
      await folder.remove();
    },
  };
}

eventStoreContract("SQLite in the caller's thread", () => openFixture(true));
eventStoreContract("SQLite with the writer thread", () => openFixture(false));
eventStoreContract("SQLite behind a prefix", async () => {
  const fixture = await openFixture(true);
  const behind = (store: EventStore) => prefixedEventStore(store, "staging_");
  return {
    ...fixture,
    store: behind(fixture.store),
    openAnother: async () => behind(await fixture.openAnother()),
    startAppending: (stream) => fixture.startAppending(`staging_${stream}`),
  };
});

async function folderOfTest(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  return folder;
}

describe.each([true, false])("SQLite event store (appends in the caller's thread: %s)", (inCallersThread) => {
  it("has no head while it is empty", async () => {
    const folder = await folderOfTest();
    const store = await openSqliteLog(join(folder.path, "new"), inCallersThread);
    expect(await store.head()).toBe(START);
    await store.append("link-a", "none", sampleEvents(2));
    expect(await store.head()).toBe("00000000000000000002");
    await store.close();
  });

  it("stamps events with the clock it was given", async () => {
    const folder = await folderOfTest();
    const clock = () => new Date("2026-03-01T10:00:00.000Z");
    const store = await openSqliteLog(folder.path, inCallersThread, { clock });
    await store.append("link-a", "none", [sampleEvent()]);
    expect((await store.read("link-a"))[0]?.recordedAt).toBe("2026-03-01T10:00:00.000Z");
    await store.close();
  });

  it.each([
    ["this process as they come", true, 60],
    ["another process, of which no signal comes, within 250 ms", false, 250],
  ])("delivers the appends of %s", async (_, hasSignal, withinMs) => {
    const folder = await folderOfTest();
    const file = join(folder.path, "events.db");
    const [store, other] = [
      await openSqliteLog(folder.path, inCallersThread),
      await openSqliteEventStore(file),
    ];
    const writer = new LogFileWriter(openLogFile(file));
    const subscription = subscribed(store, { categories: ["link"] });
    const took: number[] = [];
    for (let revision = -1; revision < 6; revision++) {
      const delivered = subscription.take(1);
      await pause(20 * revision + 20);
      const [event, at] = [sampleEvent(), new Date().toISOString()];
      if (hasSignal) await other.append("link-a", revision < 0 ? "none" : revision, [event]);
      else await writer.append(appendRequest("link-a", revision, [event], at));
      const appended = performance.now();
      await delivered;
      took.push(performance.now() - appended);
    }
    expect(took.toSorted((a, b) => a - b)[3]).toBeLessThan(stretched(withinMs));
    await Promise.all([writer, store, other].map((opened) => opened.close()));
  });

  it("fails for as long as the file is not a database", async () => {
    const folder = await folderOfTest();
    const file = join(folder.path, "events.db");
    await writeFile(file, "This is a letter, not a database. ".repeat(100));
    await expect(openSqliteLog(folder.path, inCallersThread)).rejects.toThrow(StoreFailed);
  });

  it("ends its subscriptions and refuses calls once it is closed", async () => {
    const folder = await folderOfTest();
    const store = await openSqliteLog(folder.path, inCallersThread);
    const { signal } = new AbortController();
    const next = store
      .subscribe({ after: START, categories: ["link"], signal })
      [Symbol.asyncIterator]()
      .next();
    const last = store.append("link-a", "none", [sampleEvent()]);
    await store.close();
    await store.close();
    await last;
    await next;
    await expect(store.read("link-a")).rejects.toThrow(StoreUnavailable);
    await expect(store.append("link-a", 0, [sampleEvent()])).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});

describe("the thread that appends", () => {
  it("is replaced when it crashes, and pending appends can be repeated", async () => {
    const folder = await folderOfTest();
    const file = join(folder.path, "events.db");
    const created = once(process, "worker") as Promise<[Worker]>;
    const store = await openSqliteLog(folder.path, false);
    onTestFinished(() => store.close());
    await store.append("link-b", "none", sampleEvents(1));
    const [worker] = await created;
    // While this connection holds the write lock, the append can't end before the thread does.
    const writer = new DatabaseSync(file);
    writer.exec("BEGIN IMMEDIATE");
    const events = sampleEvents(3);
    const pending = store.append("link-a", "none", events);
    const rejected = expect(pending).rejects.toThrow(StoreUnavailable);
    const terminated = worker.terminate();
    writer.close();
    await terminated;
    await rejected;
    const again = await Promise.all([1, 2, 3].map(() => store.append("link-a", "none", events)));
    expect(again.map(({ revision }) => revision)).toEqual([2, 2, 2]);
    expect(await store.read("link-a")).toHaveLength(3);
  });
});

it("keeps services with different prefixes apart on one store", async () => {
  const folder = await folderOfTest();
  const store = await openSqliteEventStore(join(folder.path, "events.db"));
  onTestFinished(() => store.close());
  const [one, other] = ["one_", "other_"].map((prefix) => prefixedEventStore(store, prefix));
  await one?.append("link-a", "none", [sampleEvent()]);
  await other?.append("link-a", "none", sampleEvents(2));
  expect(
    (await one?.readAll({ after: START, categories: ["link"], limit: 10 }))?.events.map(
      ({ stream }) => stream,
    ),
  ).toEqual(["link-a"]);
  expect(await other?.read("link-a")).toHaveLength(2);
  expect((await loggedEvents(store, { categories: ["one_link", "other_link"], limit: 10 })).length).toBe(3);
  await expect(one?.append("link-a", "none", [sampleEvent()])).rejects.toMatchObject({ stream: "link-a" });
});
