// `linkledger archive` beside a running service: the same answers from the same events, which lie in files.
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const SECRET_KEY = "a secret key that is long enough to be one";
const DAY = 86_400_000;
const [DAYS, ARCHIVED, A_DAY] = [3, 2, 60];
const START = Math.floor(Date.now() / DAY) * DAY - 6 * DAY;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const BEFORE = dayOf(START + ARCHIVED * DAY);

describe("archived clicks of the embedded log", () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let service: TestService;
  let key: string;
  let command: ReturnType<typeof commandLine>;
  let before: Awaited<ReturnType<typeof answers>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, "data");
    command = commandLine(dataDir, { SECRET_KEY });
    await seed(dataDir);
    service = await startTestService({ DATA_DIR: dataDir, SECRET_KEY });
    ({ key } = await service.issueKey(ACCOUNT));
    await until("all clicks", async () => (await totalClicks()) === DAYS * A_DAY);
    before = await answers();
    expect(before.feed).toMatchObject({ events: { length: 100 } });
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const totalClicks = async () => {
    const { body } = await service.ask<{ analytics?: { totalClicks: number } }>("/api/v1/analytics/abc", {
      key,
    });
    return body.analytics?.totalClicks;
  };
  /** What is read of the log in every way. */
  async function answers() {
    const { streams } = await command.json("audit", "streams", "--prefix", "clicks-");
    const { events } = await command.json("audit", "events", "--prefix", "clicks-");
    const { events: ofStream } = await command.json("audit", "stream", "clicks-a-1");
    const { stdout: lines } = await command.linkledger(["export", "clicks"]);
    const { body: feed } = await service.ask("/api/v1/events?types=LinkClicked&limit=100", { key });
    return { streams, events, ofStream, lines, feed };
  }

  it("are listed by day before anything is moved", async () => {
    const planned = await command.json("archive", "--before", BEFORE, "--dry-run");
    expect(planned).toMatchObject({ dry_run: true, events: ARCHIVED * A_DAY, bytes: expect.any(Number) });
    expect(planned.days.map(({ day, events }: { day: string; events: number }) => [day, events])).toEqual(
      [0, 1].map((n) => [dayOf(START + n * DAY), A_DAY]),
    );
    expect(await readdir(dataDir)).not.toContain("archive");
  });

  it("are moved, sealed first, to a private file a day, while redirects and analytics go on", async () => {
    const archived = command.json("archive", "--before", BEFORE, "--vacuum");
    const redirected = await service.ask("/abc", { method: "HEAD" });
    expect(redirected.status).toBe(301);
    const { moved, events_db } = await archived;
    expect(moved.map(({ day, events }: { day: string; events: number }) => [day, events])).toEqual(
      [0, 1].map((n) => [dayOf(START + n * DAY), A_DAY]),
    );
    expect(events_db).toMatchObject({ free_bytes: 0 });
    const names = await readdir(join(dataDir, "archive"));
    expect(names.sort()).toEqual(moved.map(({ file }: { file: string }) => file));
    for (const name of names) expect((await stat(join(dataDir, "archive", name))).mode & 0o777).toBe(0o600);
    await expect.poll(totalClicks).toBe(DAYS * A_DAY + 1);
    expect(await command.json("archive", "--before", BEFORE)).toMatchObject({ moved: [] });
  });

  it("are read, exported, fed and folded again as before", async () => {
    const { streams, events, lines, ofStream, feed } = await answers();
    const isOld = ({ stream }: { stream: string }) => stream.startsWith("clicks-a-");
    expect(streams.filter(isOld)).toEqual(before.streams);
    expect(events.filter(isOld)).toEqual(before.events);
    expect(lines.startsWith(before.lines)).toBe(true);
    expect({ ofStream, feed }).toEqual({ ofStream: before.ofStream, feed: before.feed });
    expect(await command.json("projections", "verify")).toMatchObject({ ok: true });
    expect(await command.json("audit", "verify", "--full")).toMatchObject({ ok: true });
  });

  it("are in a backup, and in the service that is started from it", async () => {
    const backup = join(folder.path, "backup");
    const { files } = await command.json("backup", backup);
    expect(files.filter(({ name }: { name: string }) => name.startsWith("archive/"))).toHaveLength(ARCHIVED);
    const restored = commandLine(backup, { SECRET_KEY });
    expect(await restored.json("audit", "verify", "--full")).toMatchObject({ ok: true, problems: [] });
    expect((await restored.json("audit", "stream", "clicks-a-1")).events).toEqual(before.ofStream);
  });

  it("whose file was edited, swapped or removed are named by a verification, and are never fewer unsaid", async () => {
    const [first = "", second = ""] = (await readdir(join(dataDir, "archive"))).sort();
    const [one, other] = [first, second].map((name) => join(dataDir, "archive", name)) as [string, string];
    const [bytes, otherBytes] = [await readFile(one), await readFile(other)];
    const damaged = Buffer.from(bytes);
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    const archiveProblems = async (...options: string[]) => {
      const { code, stdout } = await command.linkledger(["audit", "verify", "--json", ...options]);
      expect(code).toBe(1);
      return JSON.parse(stdout).problems;
    };
    for (const content of [damaged, bytes.subarray(0, 200), otherBytes]) {
      await writeFile(one, content);
      const [problem, ...others] = await archiveProblems();
      expect(problem).toMatchObject({ check: "archive", stream: "clicks-a-1", revision: A_DAY - 1 });
      expect(problem.message).toContain(`archive/${first} is not what was archived`);
      expect(others).toEqual([]);
    }
    expect(await command.refused("audit", "stream", "clicks-a-1")).toContain(`archive/${first} is not what`);
    await rename(one, `${one}.away`);
    expect(await command.refused("projections", "rebuild")).toMatch(/archive\/.* is missing/);
    const none = join(folder.path, "none");
    expect(await command.refused("backup", none)).toMatch(/archive\/.* is missing/);
    expect(await readdir(none)).toEqual([]);
    const [missing, ...gone] = await archiveProblems("--full");
    expect(missing).toMatchObject({ check: "archive", stream: "clicks-a-1" });
    expect(missing.message).toMatch(/is missing, with 60 events/);
    const sealed = gone.filter(({ check }: { check: string }) => check === "seal");
    expect(
      sealed.map(({ stream, revision, message }: Record<string, unknown>) => [stream, revision, message]),
    ).toEqual(Array.from({ length: A_DAY }, (_, n) => ["clicks-a-1", n, "was removed"]));
    await writeFile(one, bytes);
    expect(await command.json("audit", "verify", "--full")).toMatchObject({ ok: true });
  });

  it("are put back into the log by name", async () => {
    const { files } = await command.json("archive");
    for (const { file } of files) await command.json("archive", "--restore", file);
    expect(await command.json("archive")).toMatchObject({ files: [] });
    expect((await command.json("audit", "stream", "clicks-a-1")).events).toEqual(before.ofStream);
    expect(await command.json("audit", "verify", "--full")).toMatchObject({ ok: true });
    expect(await command.refused("archive", "--restore", "none.zst")).toContain("no archive file none.zst");
  });

  it("are refused for days that are not closed, and on a server", async () => {
    const latest = dayOf(Date.now() - 2 * DAY);
    expect(await command.refused("archive", "--before", dayOf(Date.now() - DAY))).toContain(latest);
    const outcome = await command.linkledger(["archive"], { EVENTSTORE_URL: "esdb://localhost:1?tls=false" });
    expect([outcome.code, outcome.stdout]).toEqual([1, ""]);
    expect(outcome.stderr).toMatch(/^error: archive is for the embedded log: [^\n]+\n$/);
  });
});

/** One link of an account, and clicks on each of some days, in a stream a day. */
async function seed(dataDir: string): Promise<void> {
  let now = START;
  const store = await openSqliteEventStore(join(dataDir, "events.db"), { clock: () => new Date(now) });
  const at = () => new Date(now).toISOString();
  await append(store, `account-${ACCOUNT}`, [
    { type: "AccountOpened", data: { accountId: ACCOUNT, at: at(), tier: "developer" } },
  ]);
  const link = { host: "localhost", slug: "abc", shortUrl: "http://localhost/abc" };
  await append(store, "link-localhost/abc", [linkCreated({ ...link, at: at() })]);
  const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
  for (let day = 0; day < DAYS; day += 1) {
    for (let n = 0; n < A_DAY; n += 20) {
      now = START + day * DAY + n * 1_000;
      const clicks = Array.from({ length: 20 }, (_, c) =>
        newEvent(
          linkClicked({
            link: "localhost/abc",
            at: at(),
            city: `${day} ${n + c}`,
            visitor: `${day}${n + c}`.padEnd(16, "0"),
          }),
          `00000000-0000-7000-8000-${String(day * 1_000 + n + c).padStart(12, "0")}`,
          origin,
        ),
      );
      await store.append(`clicks-a-${day + 1}`, n === 0 ? "none" : n - 1, clicks);
    }
  }
  await store.close();
}
