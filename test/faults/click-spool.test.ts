// The click spool without threads and processes: outages, lost answers, full spools, locks and orphaned spools.
import { spawnSync } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventStore } from "../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { sqliteClickSpools } from "../../src/redirect/spool/click-spool.sqlite.ts";
import type { ClickSpool, ClickSpools } from "../../src/redirect/spool/click-spool.ts";
import { OrphanedSpools } from "../../src/redirect/spool/orphaned-spools.ts";
import { turns } from "../support/event-store/faulty-event-store.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { newSender, SimulatedRecorder, termOf } from "../support/redirect/simulated-recorder.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";

const WRITER = "1111111111111111";

/** A double: the file is closed, and removing it fails. */
function failingToClose(spool: ClickSpool): ClickSpool {
  return {
    put: (batches) => spool.put(batches),
    oldest: (mostClicks) => spool.oldest(mostClicks),
    drop: (upTo) => spool.drop(upTo),
    size: () => spool.size(),
    close() {
      spool.close();
      throw new Error("EBUSY: can't be removed");
    },
  };
}

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

  it("are appended though the spool can't be opened, and wait in memory until it can", async () => {
    await writeFile(spools, "a file in the folder's place");
    const sender = newSender(WRITER);
    const recorder = start(sender);
    recorder.send(3);
    expect(await recorder.settled()).toBe(true);
    expect(recorder.spool).toMatchObject({ clicks: 0, full: false });
    recorder.eventStore.unavailable = true;
    recorder.send(4);
    await until("the spool to be wanted", () => recorder.spool.full);
    expect(sender.accepted).toHaveLength(3);
    await rm(spools);
    recorder.send(5);
    expect(await recorder.settled()).toBe(true);
    expect(recorder.spool).toMatchObject({ clicks: 9, full: false });
    recorder.eventStore.unavailable = false;
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 12));
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

  it("are appended directly again once the spool is empty", async () => {
    const recorder = start();
    recorder.eventStore.script.push("refused");
    recorder.send(3);
    await recorder.drained();
    recorder.send(3);
    await recorder.settled();
    expect(recorder.spool.clicks).toBe(0);
    expect(await terms()).toEqual(termsOf(WRITER, 6));
    await recorder.close();
  });

  it("are spooled while the store is slow, which is not reported as an outage", async () => {
    const recorder = start();
    recorder.eventStore.script.push("slow", "none");
    recorder.send(5);
    expect(await recorder.settled()).toBe(true);
    expect(recorder.spool.clicks).toBe(5);
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 5));
    expect(recorder.eventStore.script).toEqual(["none"]);
    expect(recorder.problems).toEqual([]);
    await recorder.close();
  });

  it("are not spooled while the store answers in time", async () => {
    const recorder = start();
    for (let batch = 0; batch < 30; batch++) {
      recorder.send(5);
      expect(await recorder.settled()).toBe(true);
      expect(recorder.largestSpool).toBe(0);
    }
    expect(await terms()).toEqual(termsOf(WRITER, 150));
    await recorder.close();
  });

  it("are spooled without further clicks when the answer is late, and later ones are not", async () => {
    const recorder = start();
    recorder.eventStore.script.push("slow", "none", "none");
    recorder.send(5);
    recorder.send(7);
    expect(await recorder.settled()).toBe(true);
    expect(recorder.spool.clicks).toBe(12);
    expect(await recorder.drained()).toBe(true);
    recorder.largestSpool = 0;
    recorder.send(3);
    expect(await recorder.settled()).toBe(true);
    expect(recorder.largestSpool).toBe(0);
    expect(await terms()).toEqual(termsOf(WRITER, 15));
    await recorder.close();
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

  it("wait in the spool behind the orphaned spool of a crashed thread of their process", async () => {
    const sender = newSender(WRITER);
    await crashWith(5, sender);
    // This handle locks the orphaned spool, so that the next thread cannot drain it yet.
    const [held] = sqliteClickSpools(spools, { name: "z", maxBytes: 1 }).openOrphaned(() => undefined);
    const recorder = start(sender);
    recorder.send(5);
    expect(await recorder.settled()).toBe(true);
    await turns(300);
    expect(await terms()).toEqual([]);
    expect(sender.accepted).toHaveLength(10);
    held?.close();
    expect(await recorder.drained()).toBe(true);
    await turns(300);
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 10));
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

  it("of a crashed process are appended although its folder can't be read at first, nor its file be removed", async () => {
    await crashWith(7);
    const real = sqliteClickSpools(spools, { name: "next", maxBytes: 1 });
    let scans = 0;
    const failing: Pick<ClickSpools, "openOrphaned"> = {
      openOrphaned(onUnreadable) {
        scans += 1;
        if (scans === 1) throw new Error("EMFILE: too many open files");
        return real.openOrphaned(onUnreadable).map(failingToClose);
      },
    };
    const notes: string[] = [];
    const stopping = new AbortController();
    const deps = { eventStore: store, random: () => 0.5, spools: failing, sleep: () => turns(1) };
    const orphans = new OrphanedSpools(deps, stopping.signal, (note) => note && notes.push(note));
    await until("the folder to be read again after both failures", () => scans > 2 && notes.length > 1);
    stopping.abort();
    await orphans.ended;
    expect(await terms()).toEqual(termsOf(WRITER, 7));
    expect(notes).toEqual(["EMFILE: too many open files", "EBUSY: can't be removed"]);
    expect(orphans.size()).toEqual({ clicks: 0, bytes: 0 });
  });

  it("wait in memory, all of them and in order, when the spool is full", async () => {
    const sender = newSender(WRITER);
    const recorder = start(sender, { maxBytes: 20_000 });
    recorder.eventStore.unavailable = true;
    for (let batch = 0; batch < 20; batch++) {
      recorder.send(5);
      await turns(30);
    }
    expect(recorder.spool.full).toBe(true);
    expect(recorder.spool.bytes).toBeLessThanOrEqual(20_000);
    expect(sender.accepted.length).toBeLessThan(100);
    expect(sender.accepted.length).toBe(recorder.spool.clicks);
    expect(recorder.problems).toContain("The click spool is full: it may hold 20000 bytes");
    recorder.eventStore.unavailable = false;
    expect(await recorder.drained()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 100));
    expect(recorder.spool.full).toBe(false);
    await recorder.close();
  });

  it("wait in memory for the store when there is no room for a spool", async () => {
    const recorder = start(newSender(WRITER), { maxBytes: 1 });
    recorder.eventStore.script.push("slow", "lost", "refused");
    for (let batch = 0; batch < 3; batch++) recorder.send(5);
    expect(await recorder.settled()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 15));
    await recorder.close();
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

  it("return batches in order, joined where they are consecutive", async () => {
    const own = spoolsOf("a").openOwn();
    const [one, two, other, three] = [sampleEvents(2), sampleEvents(3), sampleEvents(1), sampleEvents(2)];
    own.put([{ stream: "clicks-a-1", after: -1, events: one }]);
    own.put([{ stream: "clicks-a-1", after: 1, events: two }]);
    own.put([{ stream: "clicks-b-1", after: 6, events: other }]);
    own.put([{ stream: "clicks-b-1", after: 8, events: three }]);
    expect(own.oldest(100)).toEqual({
      upTo: 2,
      stream: "clicks-a-1",
      after: -1,
      events: [...one, ...two],
    });
    expect(own.oldest(4)).toMatchObject({ upTo: 1, events: one });
    expect(own.oldest(1)).toMatchObject({ upTo: 1, events: one });
    own.drop(2);
    expect(own.oldest(100)).toEqual({ upTo: 3, stream: "clicks-b-1", after: 6, events: other });
    own.drop(3);
    expect(own.oldest(100)).toEqual({ upTo: 4, stream: "clicks-b-1", after: 8, events: three });
    own.drop(4);
    expect(own.oldest(100)).toBeUndefined();
    expect(own.size()).toEqual({ clicks: 0, bytes: 0 });
    own.close();
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("are emptied at the same cost an append, however many clicks wait", () => {
    const batches = (count: number) =>
      Array.from({ length: count }, (_, after) => ({ stream: "clicks-a-1", after, events: sampleEvents(1) }));
    /** Processor time of a drop, as waiting for the disk costs the same with any number of clicks. */
    const msPerDrop = (waiting: number) => {
      const own = spoolsOf(`a${waiting}`, { maxBytes: 1e9, minFreeBytes: 0 }).openOwn();
      const { numbers } = own.put(batches(waiting));
      const before = process.cpuUsage();
      for (const number of numbers.slice(0, 50)) own.drop(number);
      const { user, system } = process.cpuUsage(before);
      expect(own.size().clicks).toBe(waiting - 50);
      own.drop(waiting);
      expect(own.size()).toEqual({ clicks: 0, bytes: 0 });
      own.close();
      return (user + system) / 50_000;
    };
    const few = msPerDrop(100);

    expect(msPerDrop(40_000)).toBeLessThan(10 * few);
  });

  it("take no clicks when the disk has too little free space", () => {
    const own = spoolsOf("a", { minFreeBytes: Number.MAX_SAFE_INTEGER }).openOwn();
    const put = own.put([{ stream: "clicks-a-1", after: -1, events: sampleEvents(1) }]);
    expect(put).toEqual({ numbers: [], full: expect.objectContaining({ code: "spool_full" }) });
    expect(own.size()).toEqual({ clicks: 0, bytes: 0 });
    own.close();
  });

  it("that can be opened and not read are reported each time, and left unlocked for who saves what is there", () => {
    const file = join(folder.path, "a.spool");
    const damaged = new DatabaseSync(file);
    damaged.exec("PRAGMA user_version = 1");
    damaged.close();
    const problems: string[] = [];
    const look = () => spoolsOf("b").openOrphaned((message) => problems.push(message));
    expect([look(), look()]).toEqual([[], []]);
    expect(problems).toEqual(Array(2).fill(expect.stringContaining("no such table: appends")));
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
