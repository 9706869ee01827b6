// The click spool without threads and processes: outages, lost answers, full spools, locks and orphaned spools.
import { spawnSync } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { sqliteClickSpools } from "../../src/redirect/spool/click-spool.sqlite.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { newSender, SimulatedRecorder, termOf } from "../support/redirect/simulated-recorder.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const WRITER = "1111111111111111";

describe("clicks while the event store is unavailable", () => {
  let folder: TemporaryFolder;
  let spools: string;
  let store: EventStore;

  beforeEach(async () => {
    folder = await temporaryFolder();
    spools = join(folder.path, "click-spool");
    store = await openSqliteEventStore(join(folder.path, "events.db"));
  });

  afterEach(async () => {
    await store.close();
    await folder.remove();
  });

  const start = (sender = newSender(WRITER), more = {}) =>
    new SimulatedRecorder(sender, { folder: spools, store, ...more });

  /** Leaves that many clicks in a spool of a process that is no more. */
  async function crashWith(clicks: number, sender = newSender(WRITER)): Promise<void> {
    const crashed = start(sender);
    crashed.eventStore.unavailable = true;
    crashed.send(clicks);
    await crashed.settled();
    crashed.crash();
  }

  const spoolFiles = async () => (await readdir(spools)).filter((file) => file.endsWith(".spool"));

  async function terms(): Promise<(string | undefined)[]> {
    const events = await store.readAll({ categories: [CATEGORY.clicks], limit: 100_000 });
    return events.map((event) => (event.data as LinkClicked["data"]).utm?.term);
  }

  const termsOf = (writer: string, count: number) =>
    Array.from({ length: count }, (_, number) => termOf(newSender(writer), number));

  it("are durable in the spool, and in the log once and in order when it is back", async () => {
    const sender = newSender(WRITER);
    const recorder = start(sender);
    recorder.eventStore.unavailable = true;
    for (let batch = 0; batch < 50; batch++) {
      recorder.send(10);
      expect(await recorder.settled()).toBe(true);
    }
    expect(sender.accepted).toHaveLength(500);
    expect(await terms()).toEqual([]);
    expect(recorder.spool).toMatchObject({ clicks: 500, full: false });
    expect(recorder.spool.bytes).toBeGreaterThan(500 * 100);
    recorder.eventStore.unavailable = false;
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 500));
    expect(recorder.problems).toEqual([
      "Clicks wait in the spool: the store is unavailable",
      "The event store has all clicks of the spool",
    ]);
    await recorder.close();
    expect(await spoolFiles()).toEqual([]);
  });

  it("are in the log once and in order when there were more of them than stay in memory", async () => {
    const recorder = start();
    recorder.eventStore.unavailable = true;
    for (let batch = 0; batch < 12; batch++) {
      recorder.send(1000);
      expect(await recorder.settled()).toBe(true);
    }
    recorder.eventStore.unavailable = false;
    recorder.send(1000);
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 13_000));
    await recorder.close();
    expect(await spoolFiles()).toEqual([]);
  });

  it.each(["lost", "slow and lost"] as const)("are not doubled when an answer is %s", async (fault) => {
    const recorder = start();
    recorder.eventStore.script.push(fault, "refused", "lost");
    for (let batch = 0; batch < 4; batch++) recorder.send(5);
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 20));
    await recorder.close();
  });

  it("survive a crash of their process, and the next one on that folder appends them", async () => {
    await crashWith(7);
    const next = newSender("2222222222222222");
    const recorder = start(next);
    recorder.send(2);
    expect(await recorder.drained()).toBe(true);
    expect((await terms()).toSorted()).toEqual([...termsOf(WRITER, 7), ...termsOf(next.writer, 2)]);
    await recorder.close();
    expect(await spoolFiles()).toEqual([]);
  });

  it("are not doubled when their crashed process had appended some without getting the answer", async () => {
    const crashed = start();
    crashed.eventStore.script.push("slow", "refused");
    crashed.send(4);
    await crashed.settled();
    crashed.send(4);
    await crashed.settled();
    crashed.crash();
    // Only the first batch of those that the spool joins into one append.
    const first = sqliteClickSpools(spools, { name: "z", maxBytes: 1 });
    const [orphaned] = first.openOrphaned(() => undefined);
    const waiting = orphaned?.oldest(1);
    expect(waiting?.after).toBe(-1);
    await store.append(waiting?.stream ?? "", "none", waiting?.events ?? []);
    orphaned?.close();
    const recorder = start(newSender("2222222222222222"));
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 8));
    await recorder.close();
  });

  it("stay on disk when the process is stopped during the outage", async () => {
    const recorder = start();
    recorder.eventStore.unavailable = true;
    recorder.send(6);
    await recorder.settled();
    await recorder.close();
    expect(await spoolFiles()).toHaveLength(1);
    const next = start(newSender("2222222222222222"));
    expect(await next.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 6));
    await next.close();
  });
});

describe("the files of the click spool", () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const spoolsOf = (name: string, more = {}) =>
    sqliteClickSpools(folder.path, { name, maxBytes: 1_000_000, ...more });
  const none = () => undefined;

  it("are locked while their thread runs, in this process and in another", async () => {
    const own = spoolsOf("a").openOwn();
    own.put([{ stream: "clicks-a-20260501", after: -1, events: sampleEvents(3) }]);
    expect(spoolsOf("b").openOrphaned(none)).toEqual([]);
    const script = `
      import { sqliteClickSpools } from "./src/redirect/spool/click-spool.sqlite.ts";
      const options = { name: "c", maxBytes: 1 };
      console.log(sqliteClickSpools(process.argv[1], options).openOrphaned(() => undefined).length);`;
    const others = () =>
      spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script, folder.path]);
    expect(others().stdout.toString()).toBe("0\n");
    own.close();
    expect(others().stdout.toString()).toBe("1\n");
  });

  it("take no clicks when the disk has too little free space", () => {
    const own = spoolsOf("a", { minFreeBytes: Number.MAX_SAFE_INTEGER }).openOwn();
    const put = own.put([{ stream: "clicks-a-1", after: -1, events: sampleEvents(1) }]);
    expect(put).toEqual({ numbers: [], full: expect.objectContaining({ code: "spool_full" }) });
    expect(own.size()).toEqual({ clicks: 0, bytes: 0 });
    own.close();
  });

  it("that can't be read are reported and do not block others", async () => {
    await writeFile(join(folder.path, "a.spool"), "x".repeat(5000));
    const orphaned = spoolsOf("b").openOwn();
    orphaned.put([{ stream: "clicks-b-1", after: -1, events: sampleEvents(1) }]);
    orphaned.close();
    const problems: string[] = [];
    const found = spoolsOf("c").openOrphaned((message) => problems.push(message));
    expect(found.map((spool) => spool.size().clicks)).toEqual([1]);
    expect(problems).toEqual([expect.stringMatching(/^The click spool a\.spool can't be read: /)]);
    for (const spool of found) spool.close();
  });
});
