// The click journal without threads and processes: outages, lost answers, full and damaged files, locks, and left files.

import { spawnSync } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CATEGORY, clickStream } from "../../src/events/streams.ts";
import { sqliteJournalFiles } from "../../src/redirect/clicks/journal-file.sqlite.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { turns } from "../support/event-store/faulty-event-store.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { newSender, type Sender, SimulatedWriter, termOf } from "../support/redirect/simulated-writer.ts";
import { smallDisk } from "../support/runtime/small-disk.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const WRITER = "1111111111111111";
const LOG = "log-1";

describe("clicks while the event store is unavailable", () => {
  let folder: TemporaryFolder;
  let journals: string;
  let store: EventStore;

  beforeEach(async () => {
    folder = await temporaryFolder();
    journals = join(folder.path, "click-journal");
    store = await openSqliteEventStore(join(folder.path, "events.db"));
  });

  afterEach(async () => {
    await store.close();
    await folder.remove();
  });

  const start = (sender = newSender(WRITER), more = {}) =>
    new SimulatedWriter(sender, { folder: journals, store, ...more });

  /** Leaves that many clicks in a file of a process that is no more. */
  async function crashWith(clicks: number, sender = newSender(WRITER)): Promise<void> {
    const crashed = start(sender);
    crashed.eventStore.unavailable = true;
    // Until it knows the log.
    await turns(1);
    crashed.send(clicks);
    await crashed.settled();
    crashed.crash();
  }

  const journalFiles = async () => (await readdir(journals)).filter((file) => file.endsWith(".journal"));

  async function terms(): Promise<(string | undefined)[]> {
    const events = await loggedEvents(store, { categories: [CATEGORY.clicks], limit: 100_000 });
    return events.map((event) => (event.data as LinkClicked["data"]).utm?.term);
  }

  const termsOf = (writer: string, count: number) =>
    Array.from({ length: count }, (_, number) => termOf(newSender(writer), number));

  it("are stored in the journal, and in the log once and in order when it is back", async () => {
    const sender = newSender(WRITER);
    const recorder = start(sender);
    recorder.eventStore.unavailable = true;
    for (let batch = 0; batch < 50; batch++) {
      recorder.send(10);
      expect(await recorder.settled()).toBe(true);
    }
    expect(sender.accepted).toHaveLength(500);
    expect(await terms()).toEqual([]);
    expect(recorder.journal).toMatchObject({ clicks: 500, isFull: false });
    expect(recorder.journal.bytes).toBeGreaterThan(500 * 100);
    recorder.eventStore.unavailable = false;
    expect(await recorder.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 500));
    expect(recorder.logged).toEqual([
      "Clicks wait in the journal: the store is unavailable",
      "The event store has all clicks of the journal",
    ]);
    await recorder.close();
    expect(await journalFiles()).toEqual([]);
  });

  it("ask an event store that is away no more often, however many come", async () => {
    const recorder = start();
    recorder.eventStore.unavailable = true;
    const { append } = recorder.eventStore;
    let asked = 0;
    recorder.eventStore.append = (...request) => {
      asked++;
      return append(...request);
    };
    for (let batch = 0; batch < 100; batch++) {
      recorder.send(100);
      await turns(1);
    }
    // A hundred turns are two and a half seconds: 50, 100, 200 and 400 ms, and a second from then on.
    expect(asked).toBeLessThan(10);
    recorder.eventStore.unavailable = false;
    expect(await recorder.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 10_000));
    await recorder.close();
  });

  it.each(["lost", "slow and lost"] as const)("are not doubled when an answer is %s", async (fault) => {
    const recorder = start();
    recorder.eventStore.script.push(fault, "refused", "lost");
    for (let batch = 0; batch < 4; batch++) recorder.send(5);
    expect(await recorder.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 20));
    await recorder.close();
  });

  it("survive a crash of their process, and the next one on that folder appends them", async () => {
    await crashWith(7);
    const next = newSender("2222222222222222");
    const recorder = start(next);
    recorder.send(2);
    expect(await recorder.emptied()).toBe(true);
    expect((await terms()).toSorted()).toEqual([...termsOf(WRITER, 7), ...termsOf(next.writer, 2)]);
    await recorder.close();
    expect(await journalFiles()).toEqual([]);
  });

  it("are not doubled when their crashed process had appended some without getting the answer", async () => {
    const crashed = start();
    crashed.eventStore.script.push("slow", "refused");
    crashed.send(4);
    await crashed.settled();
    crashed.send(4);
    await crashed.settled();
    crashed.crash();
    // Only the first batch of those that are joined into one append.
    const [left] = sqliteJournalFiles(journals, { maxBytes: 1, newName: () => "z" }).openLeft(
      LOG,
      () => undefined,
    );
    const waiting = left?.oldest(1);
    expect(waiting?.after).toBe(-1);
    await store.append(waiting?.stream ?? "", "none", waiting?.events ?? []);
    left?.close();
    const recorder = start(newSender("2222222222222222"));
    expect(await recorder.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 8));
    await recorder.close();
  });

  it("stay on disk when the process is stopped during the outage", async () => {
    const recorder = start();
    recorder.eventStore.unavailable = true;
    recorder.send(6);
    await recorder.settled();
    await recorder.close();
    expect(await journalFiles()).toHaveLength(1);
    const next = start(newSender("2222222222222222"));
    expect(await next.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 6));
    await next.close();
  });

  it("that follow those in a file that can't be read are appended, and nobody waits for these", async () => {
    const sender = newSender(WRITER);
    await crashWith(6, sender);
    const [damaged = ""] = await journalFiles();
    await writeFile(join(journals, damaged), "x".repeat(5_000));
    await rm(join(journals, `${damaged}-wal`), { force: true });
    const recorder = start(sender);
    recorder.send(3);
    expect(await recorder.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 9).slice(6));
    expect(recorder.logged).toEqual([
      expect.stringMatching(
        /^The click journal \S+ is damaged \(.*not a database\): it is kept as \S+; 0 clicks could be read, 0 are lost, and others, it is not known how many$/,
      ),
    ]);
    await recorder.close();
    expect(await journalFiles()).toEqual([]);
    expect(await readdir(journals)).toEqual([expect.stringContaining(`${damaged}.damaged-`)]);
  });

  it("of before a restore are appended to the log as it was restored", async () => {
    const sender = newSender(WRITER);
    sender.revisions.set(clickStream(WRITER, new Date(1_780_000_000_000)), 41);
    const recorder = start(sender);
    recorder.send(4);
    expect(await recorder.emptied()).toBe(true);
    recorder.send(2);
    expect(await recorder.emptied()).toBe(true);
    expect(await terms()).toEqual(termsOf(WRITER, 6));
    await recorder.close();
  });

  it.each<[string, (recorder: SimulatedWriter, sender: Sender) => Promise<unknown>]>([
    [
      "the journal was full",
      async (recorder) => {
        recorder.eventStore.unavailable = true;
        recorder.send(3);
        await recorder.settled();
        // The batch finds no room, is appended at once, and those that wait come behind it.
        recorder.send(30);
        recorder.eventStore.unavailable = false;
      },
    ],
    [
      "clicks before them could not be read",
      async (recorder, sender) => {
        sender.revisions.set(clickStream(WRITER, new Date(1_780_000_000_000)), 7);
        recorder.send(3);
      },
    ],
  ])("are found in their place again once %s", async (_, disturb) => {
    const sender = newSender(WRITER);
    const recorder = start(sender, { maxBytes: 12_000 });
    recorder.send(5);
    expect(await recorder.emptied()).toBe(true);
    await disturb(recorder, sender);
    expect(await recorder.emptied()).toBe(true);
    const { read } = recorder.eventStore;
    let reads = 0;
    recorder.eventStore.read = (...asked) => {
      reads++;
      return read(...asked);
    };
    for (let batch = 0; batch < 20; batch++) {
      recorder.send(2);
      expect(await recorder.emptied()).toBe(true);
    }
    // Two where they find out, and none from then on.
    expect(reads).toBeLessThanOrEqual(4);
    expect((await terms()).toSorted()).toEqual(termsOf(WRITER, sender.sent).toSorted());
    await recorder.close();
  });

  it("of another log stay in their file, which is named once", async () => {
    await crashWith(4);
    const [left = ""] = await journalFiles();
    const other = start(newSender("2222222222222222"), { logId: "log-2" });
    other.send(2);
    expect(await other.emptied()).toBe(true);
    await turns(500);
    expect((await terms()).toSorted()).toEqual(termsOf("2222222222222222", 2));
    expect(other.logged).toEqual([
      `The click journal ${left} is of the log log-1, and this is log-2: it stays as it is`,
    ]);
    await other.close();
    const own = start(newSender("3333333333333333"));
    expect(await own.emptied()).toBe(true);
    expect(await terms()).toEqual([...termsOf("2222222222222222", 2), ...termsOf(WRITER, 4)]);
    await own.close();
  });

  it("go to the event store at once where the journal has no room, and wait where that is away, too", async () => {
    const recorder = start(newSender(WRITER), { maxBytes: 3_000 });
    recorder.eventStore.unavailable = true;
    recorder.send(2);
    expect(await recorder.settled()).toBe(true);
    recorder.send(20);
    await turns(50);
    expect(recorder.journal).toMatchObject({ clicks: 2, isFull: true });
    recorder.eventStore.unavailable = false;
    expect(await recorder.emptied()).toBe(true);
    expect((await terms()).toSorted()).toEqual(termsOf(WRITER, 22).toSorted());
    await recorder.close();
  });
});

it("clicks go on to the event store while the disk of the journal is full, and through the journal when it has space", async () => {
  const [disk, folder] = [await smallDisk(), await temporaryFolder()];
  const store = await openSqliteEventStore(join(folder.path, "events.db"));
  const sender = newSender(WRITER);
  const writer = new SimulatedWriter(sender, { folder: join(disk.path, "click-journal"), store });
  const stored = () => loggedEvents(store, { categories: [CATEGORY.clicks], limit: 1_000 });
  writer.send(3);
  expect(await writer.emptied()).toBe(true);
  disk.fill();
  for (let n = 0; n < 5; n++) writer.send(40);
  expect(await writer.settled()).toBe(true);
  expect(writer.journal.isFull).toBe(true);
  disk.free();
  writer.send(2);
  expect(await writer.emptied()).toBe(true);
  expect(writer.journal.isFull).toBe(false);
  expect(new Set((await stored()).map(({ id }) => id)).size).toBe(205);
  expect(await stored()).toHaveLength(205);
  await writer.close();
  await store.close();
  await Promise.all([folder.remove(), disk.remove()]);
});

describe("the files of the click journal", () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const filesOf = (name: string, more = {}) =>
    sqliteJournalFiles(folder.path, { newName: () => name, maxBytes: 1_000_000, ...more });
  const none = () => undefined;
  const batch = (clicks: number) => ({
    stream: "clicks-a-20260501",
    after: -1,
    events: sampleEvents(clicks),
  });

  it("are locked while their thread runs, in this process and in another", async () => {
    const own = filesOf("a").create();
    own.put([batch(3)]);
    expect(filesOf("b").openLeft(LOG, none)).toEqual([]);
    const script = `
      import { sqliteJournalFiles } from "./src/redirect/clicks/journal-file.sqlite.ts";
      const options = { newName: () => "c", maxBytes: 1 };
      console.log(sqliteJournalFiles(process.argv[1], options).openLeft("log-1", () => undefined).length);`;
    const others = () =>
      spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script, folder.path]);
    expect(others().stdout.toString()).toBe("0\n");
    own.close();
    expect(others().stdout.toString()).toBe("1\n");
  });

  it("take no clicks when the disk has too little free space", () => {
    const own = filesOf("a", { minFreeBytes: Number.MAX_SAFE_INTEGER }).create();
    expect(() => own.put([batch(1)])).toThrow(expect.objectContaining({ code: "journal_full" }));
    expect(own.size()).toEqual({ clicks: 0, bytes: 0 });
    own.close();
  });

  it("give what is in the log no second time, also before it is deleted", () => {
    const own = filesOf("a").create();
    own.put([batch(2)]);
    const first = own.oldest(10);
    if (first) own.drop(first);
    expect([own.size(), own.oldest(10)]).toEqual([{ clicks: 0, bytes: 0 }, undefined]);
    own.put([{ ...batch(1), after: 1 }]);
    expect(own.oldest(10)).toMatchObject({ after: 1, events: [expect.anything()] });
    own.close();
    const [left] = filesOf("b").openLeft(LOG, none);
    expect(left?.size().clicks).toBe(1);
    left?.close();
  });

  it("that can't be read are reported once and do not hold up others", async () => {
    await writeFile(join(folder.path, "a.journal"), "x".repeat(5000));
    const left = filesOf("b").create();
    left.put([batch(1)]);
    left.close();
    const problems: string[] = [];
    const files = filesOf("c");
    const found = files.openLeft(LOG, (message) => problems.push(message));
    files.openLeft(LOG, (message) => problems.push(message));
    expect(found.map((file) => file.size().clicks)).toEqual([0, 1]);
    expect(problems).toEqual([expect.stringMatching(/^The click journal a\.journal is damaged/)]);
    for (const file of found) file.close();
  });
});
