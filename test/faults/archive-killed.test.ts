// Archiving that is killed at any step, beside readers and writers: every event is there once, and the next run ends it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { LogArchive } from "../../src/event-store/log-archive.ts";
import { SqliteBatches } from "../../src/event-store/sqlite/batches.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { SqliteLog } from "../../src/event-store/sqlite/log.ts";
import { archiveBefore, archiveIn, EVER } from "../support/event-store/archived-event-store.ts";
import { sampleColumns } from "../support/event-store/sample-events.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";

const CHILD = fileURLToPath(new URL("../support/event-store/archive-process.ts", import.meta.url));
const [DAYS, APPENDS, AN_APPEND] = [2, 6, 1_000];
const EVENTS = DAYS * APPENDS * AN_APPEND;

/** Of all events, by a new handle. */
function idsIn(folder: string): string[] {
  const log = new SqliteLog(join(folder, "events.db"));
  const events = log.readAll({ after: 0, categories: ["clicks"], limit: 1_000_000 });
  log.close();
  return events.map(({ id }) => id);
}

function run(folder: string, ...args: string[]) {
  return spawn(process.execPath, [CHILD, folder, ...args], { stdio: ["ignore", "ignore", "pipe"] });
}

describe("archiving", () => {
  let folder: string;
  let ids: string[];
  let archive: LogArchive;

  beforeEach(async () => {
    const temporary = await temporaryFolder();
    folder = temporary.path;
    let now = Date.UTC(2026, 2, 1);
    const store = await openSqliteEventStore(join(folder, "events.db"), { clock: () => new Date(now) });
    for (let n = 0; n < DAYS * APPENDS; n += 1) {
      now = Date.UTC(2026, 2, 1 + Math.floor(n / APPENDS), 1, n);
      await store.append("clicks-a", n === 0 ? "none" : n * AN_APPEND - 1, sampleColumns(AN_APPEND));
    }
    await store.close();
    ids = idsIn(folder);
    archive = archiveIn(folder);
    return async () => {
      archive.close();
      await temporary.remove();
    };
  });

  const finished = async () => {
    await archive.finish();
    await archiveBefore(archive, EVER);
    expect(await archive.problems()).toEqual([]);
    const files = archive.files();
    expect(files.map(({ events }) => events)).toEqual([EVENTS / 2, EVENTS / 2]);
    expect(archive.days(EVER)).toEqual([]);
    expect(idsIn(folder)).toEqual(ids);
  };

  it.each([
    ["in the middle of a file", "written", "1"],
    ["before a file is recorded", "renamed", "2"],
    ["before anything is moved", "recorded", "1"],
    ["when a part is moved", "moved", "1"],
    ["when the second file is moved in part", "moved", "3"],
  ])("killed %s loses nothing, and is ended by the next run", async (_, step, count) => {
    const child = run(folder, step, count);
    await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
    expect(idsIn(folder)).toEqual(ids);
    expect(await archive.problems()).toEqual([]);
    await finished();
  });

  it("leaves no half-written file of an earlier run for ever", async () => {
    await once(run(folder, "written", "1"), "exit");
    const partial = () => readdirSync(join(folder, "archive")).filter((name) => name.endsWith(".partial"));
    await archive.finish();
    expect(partial()).toHaveLength(1);
    for (const name of partial()) utimesSync(join(folder, "archive", name), 0, 0);
    await archive.finish();
    expect(partial()).toEqual([]);
  });

  it("whose restoring is killed loses nothing, and is ended by the next one", async () => {
    await finished();
    const [{ file } = { file: "" }] = archive.files();
    const child = run(folder, "restored", "1", file);
    await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
    expect(idsIn(folder)).toEqual(ids);
    expect(await archive.problems()).toEqual([]);
    await archive.restore(file);
    expect(existsSync(join(folder, "archive", file))).toBe(false);
    expect(await archive.problems()).toEqual([]);
    expect(idsIn(folder)).toEqual(ids);
  });

  it("ends without a loss when another process restores the file meanwhile", async () => {
    await once(run(folder, "recorded", "1"), "exit");
    const [{ file } = { file: "" }] = archive.files();
    const finishing = archive.finish(({ step }) => {
      if (step === "moved") spawnSync(process.execPath, [CHILD, folder, "none", "1", file]);
    });
    await expect(finishing).rejects.toThrow(file);
    expect([archive.files(), await archive.problems()]).toEqual([[], []]);
    await finished();
  });

  it("refuses a file that does not hold what the log has, before it removes anything", async () => {
    await once(run(folder, "recorded", "1"), "exit");
    const [name = ""] = readdirSync(join(folder, "archive"));
    appendFileSync(join(folder, "archive", name), "x");
    await expect(archive.finish()).rejects.toThrow(/no file of the archive/);
    expect(idsIn(folder)).toEqual(ids);
    expect(await archive.problems()).toMatchObject([{ message: expect.stringContaining(name) }]);
    await archive.restore(name);
    await finished();
  });

  it("is read again when the file of a read was put back into the log meanwhile", async () => {
    await finished();
    const log = new SqliteLog(join(folder, "events.db"));
    onTestFinished(() => log.close());
    const { readAll } = SqliteBatches.prototype;
    vi.spyOn(SqliteBatches.prototype, "readAll").mockImplementationOnce(function (
      this: SqliteBatches,
      request,
    ) {
      for (const { file } of archive.files()) spawnSync(process.execPath, [CHILD, folder, "none", "1", file]);
      return readAll.call(this, request);
    });
    const events = log.readAll({ after: 0, categories: ["clicks"], limit: 1_000_000 });
    expect(events.map(({ id }) => id)).toEqual(ids);
    expect(archive.files()).toEqual([]);
  });

  it("by two processes at once moves each event once", async () => {
    const children = [run(folder), run(folder)];
    const ends = await Promise.all(children.map((child) => once(child, "exit")));
    expect(ends.map(([code]) => code)).toContain(0);
    await finished();
  });

  it("is not seen by readers and writers in other threads, and neither is restoring", async () => {
    const store = await openSqliteEventStore(join(folder, "events.db"), { offThread: true });
    onTestFinished(() => store.close());
    let isOver = false;
    const reading = (async () => {
      let reads = 0;
      for (let next = 0; !isOver || reads < 3; reads += 1, next += 997) {
        const from = next % (EVENTS - 50);
        const events = await store.read("clicks-a", { from, limit: 50 });
        expect(events.map(({ id }) => id)).toEqual(ids.slice(from, from + 50));
        const after = String(from).padStart(20, "0");
        const all = await store.readAll({ categories: ["clicks"], after, limit: 50 });
        expect(all.map(({ id }) => id)).toEqual(ids.slice(from, from + 50));
      }
    })();
    const writing = (async () => {
      for (let n = 0; !isOver; n += 1)
        await store.append("clicks-b", n === 0 ? "none" : n * 100 - 1, sampleColumns(100));
    })();
    for (let round = 0; round < 3; round += 1) {
      await archiveBefore(archive, new Date(Date.UTC(2026, 3, 1)));
      for (const { file } of archive.files()) await archive.restore(file);
    }
    isOver = true;
    await Promise.all([reading, writing]);
  });
});
