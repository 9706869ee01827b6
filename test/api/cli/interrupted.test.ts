// Ctrl-C in long commands: each says what it has done and how to go on, exits with 130, and leaves nothing half made.

import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { commandLine, runCommand } from "../../support/service/command-line.ts";
import { accountWithKeys } from "../../support/service/service-process.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const CLICKS = "clicks-a-20260301";
const EMAIL = "developer@example.com";

let folder: TemporaryFolder;
let dataDir: string;
let out: string;
let cli: ReturnType<typeof commandLine>;
beforeAll(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
  out = join(folder.path, "out");
  await mkdir(out);
  cli = commandLine(dataDir);
  await accountWithKeys({ DATA_DIR: dataDir }, "developer", 0);
  const store = await openSqliteEventStore(join(dataDir, "events.db"));
  const clicks = Array.from({ length: 1_000 }, () => linkClicked({ link: "localhost/abc" }));
  for (let n = 0; n < 40; n++) await append(store, CLICKS, clicks);
  await store.close();
}, 120_000);
afterAll(() => folder.remove());

/** Interrupts the command once `isBegun`. */
async function interrupted(args: string[], isBegun: () => Promise<boolean>) {
  const signals = new EventEmitter();
  const running = runCommand(args, { env: { DATA_DIR: dataDir }, signals });
  await until("the command to begin", isBegun, { everyMs: 1 });
  signals.emit("SIGINT");
  return await running;
}

/** The same with a process and a signal of the system. */
async function killed(args: string[], signal: NodeJS.Signals, isBegun: () => Promise<boolean>) {
  const child = spawn(process.execPath, ["src/cli.ts", ...args], {
    env: childEnvironment({ DATA_DIR: dataDir }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  await until("the command to begin", isBegun, { everyMs: 2 });
  child.kill(signal);
  const [[code], stdout, stderr] = await ended;
  return { code, stdout, stderr };
}

describe("a command on stores that is interrupted", { timeout: 120_000 }, () => {
  it("drops no build, and a rebuild goes on with it", async () => {
    const store = await openSqliteEventStore(join(dataDir, "events.db"));
    const isBegun = async () =>
      (await loggedEvents(store, { categories: ["operator"], limit: 1 })).length > 0;
    const outcome = await interrupted(["projections", "rebuild", "clicks"], isBegun);
    await store.close();
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    expect(outcome.stderr).toMatch(/^interrupted: \d+ % of the log was read, and what answers is unchanged/);
    const { builds } = await cli.json("projections", "rebuild", "clicks");
    expect(builds).toMatchObject([{ name: "clicks", build: 1 }]);
  });
});

describe("a command beside a service that is interrupted", { timeout: 120_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ DATA_DIR: dataDir });
  });
  afterAll(() => service.stop());

  it("exports nothing, and leaves the earlier file", async () => {
    const file = join(out, "clicks.csv");
    await writeFile(file, "earlier");
    const isBegun = async () => (await readdir(out)).length > 1;
    const call = ["export", "clicks", "--format", "csv", "--out", file];
    for (const outcome of [await killed(call, "SIGTERM", isBegun), await interrupted(call, isBegun)]) {
      expect(outcome).toMatchObject({ code: 130, stdout: "" });
      expect(outcome.stderr).toMatch(
        /^interrupted: \d+ % of the log was read, and \S+ is as it was[^\n]+\n$/,
      );
      expect(await readdir(out)).toEqual(["clicks.csv"]);
      expect(await readFile(file, "utf8")).toBe("earlier");
    }
  });

  it("reports what it has imported, and goes on there when it is given again", async () => {
    const links = Array.from({ length: 2_000 }, (_, n) => `link${n},https://example.com/${n}`);
    const head = "keyword,url";
    const file = join(folder.path, "yourls.csv");
    await writeFile(file, [head, ...links].join("\n"));
    const { eventStore } = service.backend;
    const isBegun = async () => (await eventStore.read("link-localhost/link0")).length > 0;
    const call = ["import", "yourls", file, "--account", EMAIL, "--json"];
    const outcome = await interrupted(call, isBegun);
    expect(outcome).toMatchObject({ code: 130, stderr: "" });
    const report = JSON.parse(outcome.stdout);
    expect(report).toMatchObject({ interrupted: true, links: { failed: 0 } });
    const { created } = report.links;
    expect(created).toBeGreaterThan(0);
    expect(created).toBeLessThan(2_000);
    await writeFile(file, [head, ...links.slice(0, created + 3)].join("\n"));
    expect((await cli.json(...call.slice(0, -1))).links).toMatchObject({ created: 3, already: created });
  });
});
