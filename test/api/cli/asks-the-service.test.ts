// Commands beside a running service run in it, over its socket: what they answer, and what becomes of them when one side ends.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { byteChannel } from "../../../src/runtime/threads/byte-channel.ts";
import { Calls } from "../../../src/runtime/threads/calls.ts";
import { lockFolder } from "../../../src/stores/connections/folder-lock.sqlite.ts";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { isLong } from "../../support/runtime/effort.ts";
import { append } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { commandLine, commandProcess } from "../../support/service/command-line.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";

const EMAIL = "developer@example.com";
const CLICKS = 60_000;

let folder: TemporaryFolder;
let instance: Environment;
let dataDir: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  // Longer than the path of a socket can be.
  dataDir = join(folder.path, "d".repeat(120));
  instance = await instanceOf(dataDir);
  await accountWithKeys(instance, "developer", 0);
  const store = await openSqliteEventStore(join(dataDir, "events.db"));
  const clicks = Array.from({ length: 1_000 }, () => linkClicked({ link: "localhost/abc" }));
  for (let n = 0; n < CLICKS; n += 1_000) await append(store, "clicks-a-20260301", clicks);
  await store.close();
}, 120_000);
afterAll(() => folder.remove());

async function running(...words: string[]): Promise<ServiceProcess> {
  const service = await startService(instance, { serve: words });
  onTestFinished(() => service.stop("SIGKILL"));
  return service;
}

/** A command in a process of its own. */
function started(...args: string[]) {
  const child = spawn(process.execPath, ["src/cli.ts", ...args], {
    env: childEnvironment({ DATA_DIR: dataDir }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function outcomeOf(child: ReturnType<typeof started>) {
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/** Of a command that writes `out`: once it has begun to. */
async function begun(out: string): Promise<void> {
  const isBegun = async () => (await readdir(out)).some((name) => name.endsWith(".part"));
  await until("the export to begin", isBegun, { everyMs: 2 });
}

async function emptyFolder(): Promise<string> {
  const out = join(folder.path, crypto.randomUUID());
  await mkdir(out);
  return out;
}

/** Bytes that the process has read so far. */
async function readBy({ pid }: ChildProcess): Promise<number> {
  return Number(/^rchar: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** Its own path is too long for a socket. */
async function shortSocket(): Promise<string> {
  const door = await temporaryFolder();
  onTestFinished(() => door.remove());
  const path = join(door.path, "s");
  await symlink(join(dataDir, "commands.sock"), path);
  return path;
}

describe("a command beside a running service", { timeout: 120_000 }, () => {
  it("needs nothing but its socket, which is the service's own user's", async () => {
    await running();
    expect((await stat(join(dataDir, "commands.sock"))).mode & 0o777).toBe(0o600);
    const door = await emptyFolder();
    await symlink(join(dataDir, "commands.sock"), join(door, "commands.sock"));
    const { accounts } = await commandProcess(door).json("account", "list");
    expect(accounts).toMatchObject([{ email: EMAIL }]);
    expect(await readdir(door)).toEqual(["commands.sock"]);
  });

  it("takes output from the service no faster than it is read", async () => {
    const { child: service } = await running();
    await commandProcess(dataDir).json("audit", "key");
    const before = await readBy(service);
    const command = started("export", "clicks", "--format", "csv");
    await once(command.stdout, "readable");
    let last = -1;
    await until(
      "the export to stand still",
      async () => {
        const now = await readBy(service);
        const isStill = now === last && now > before;
        last = now;
        return isStill;
      },
      { everyMs: 500 },
    );
    // The whole log is more than twice as much.
    expect(last - before).toBeLessThan(3_000_000);
    const { code, stdout } = await outcomeOf(command);
    expect([code, stdout.trim().split("\n").length]).toEqual([0, CLICKS + 1]);
  });

  it("ends by Ctrl-C, and says what it has done", async () => {
    await running();
    const out = await emptyFolder();
    const command = started("export", "clicks", "--format", "csv", "--out", join(out, "clicks.csv"));
    const ended = outcomeOf(command);
    await begun(out);
    command.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr).toMatch(/^interrupted: \d+ % of the log was read, and \S+ is as it was[^\n]+\n$/);
    expect(await readdir(out)).toEqual([]);
  });

  it("is ended by a stop of the service, and says what it has done", async () => {
    const service = await running();
    const out = await emptyFolder();
    const ended = outcomeOf(started("export", "clicks", "--format", "csv", "--out", join(out, "clicks.csv")));
    await begun(out);
    await service.stop("SIGTERM");
    expect(service.child.exitCode).toBe(0);
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([130, expect.stringMatching(/^interrupted: \d+ % of the log was read/)]);
    expect(await readdir(out)).toEqual([]);
  });

  it("says in one line that the service was killed; the next service takes commands again", async () => {
    const service = await running();
    const out = await emptyFolder();
    const ended = outcomeOf(started("export", "clicks", "--format", "csv", "--out", join(out, "clicks.csv")));
    await begun(out);
    await service.stop("SIGKILL");
    expect(await ended).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^error: The service was stopped while it ran this command[^\n]+\n$/),
    });
    expect(await readdir(out)).toEqual([]);
    // Its socket is left, and nobody listens.
    expect(await commandProcess(dataDir).refused("account", "list")).toContain("No service has DATA_DIR");
    await running();
    await commandProcess(dataDir).json("account", "create", "--email", "b@example.com");
  });

  it("leaves nothing behind in the service when it is killed itself", async () => {
    const { child: service, url } = await running();
    const door = async () => (await readdir(`/proc/${service.pid}/fd`)).length;
    await commandProcess(dataDir).json("audit", "key");
    const before = await door();
    const out = await emptyFolder();
    const command = started("export", "clicks", "--format", "csv", "--out", join(out, "clicks.csv"));
    await begun(out);
    command.kill("SIGKILL");
    await until("the service to let go of the command", async () => (await door()) <= before);
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    await commandProcess(dataDir).json("account", "list");
  });

  it("is taken by the worker in the background, where there are several", async () => {
    await running("--workers", "2");
    const door = await emptyFolder();
    await symlink(join(dataDir, "commands.sock"), join(door, "commands.sock"));
    const { json } = commandProcess(door);
    const { key_id } = await json("key", "issue", "--account", EMAIL);
    expect((await json("key", "list", "--account", EMAIL)).keys).toContainEqual(
      expect.objectContaining({ key_id }),
    );
  });

  it("is taken by one of the workers, where none is in the background", async () => {
    await running("--workers", "2", "--roles", "redirect,api,portal");
    const door = await emptyFolder();
    await symlink(join(dataDir, "commands.sock"), join(door, "commands.sock"));
    await until("the last worker to take commands", async () => existsSync(join(door, "commands.sock")));
    expect(Object.keys(await commandProcess(door).json("audit", "key"))).not.toEqual([]);
  });

  it("runs there alone where it can: nobody starts a second service over the socket", async () => {
    await running();
    const socket = connect(await shortSocket());
    onTestFinished(() => void socket.destroy());
    const channel = byteChannel((bytes) => void socket.write(bytes));
    let printed = "";
    const asking = {
      print: async (_: string, bytes: Uint8Array) => {
        printed += Buffer.from(bytes);
      },
    };
    const calls = new Calls(channel, { asking: () => asking }, Error);
    const [greeting] = await once(socket, "data");
    expect(String(greeting)).toMatch(/^linkledger .*\n$/);
    socket.on("data", (bytes) => channel.take(bytes));
    const screen = { columns: 80, isTTY: { stdout: false, stderr: false } };
    for (const words of [["serve"], ["serve", "--workers", "2"], ["backup", "here"]])
      expect(await calls.call("asked", "run", [words, screen])).toBe(1);
    expect(printed.match(/^error: This command runs in a process of its own/gm)).toHaveLength(3);
  });

  it("is refused where its message claims to be larger than 64 MB", async () => {
    const { url } = await running();
    const socket = connect(await shortSocket());
    await once(socket, "data");
    const closed = once(socket, "close");
    socket.write(Buffer.from([255, 255, 255, 255]));
    await closed;
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });

  it("is refused by the command of another version, in words", async () => {
    const place = await emptyFolder();
    const other = createServer((socket) => void socket.end("linkledger 9.9.9\n"));
    await once(other.listen(join(place, "commands.sock")), "listening");
    onTestFinished(() => void other.close());
    expect(await commandLine(place).refused("account", "list")).toMatch(
      /^error: The running service is version 9\.9\.9 and this command \S+: use the command/,
    );
  });

  it("waits for a service that starts, and says so of one that takes no commands", async () => {
    const place = await emptyFolder();
    const { release } = lockFolder(place, process.pid + 1);
    onTestFinished(release);
    expect(await commandProcess(place).refused("account", "list")).toMatch(
      /^error: A service has DATA_DIR, but/,
    );
  });

  it.runIf(isLong)(
    "does what it is to do while documents are behind, and doesn't answer from them",
    async () => {
      const { json, linkledger, refused } = commandProcess(dataDir);
      const projecting = await running();
      await json("account", "list");
      await projecting.stop();
      await running("--roles", "redirect,api,portal");
      const issued = await linkledger(["key", "issue", "--account", EMAIL, "--json"]);
      expect([issued.code, issued.stderr]).toEqual([
        0,
        expect.stringMatching(/^warning: not visible yet: The doc/),
      ]);
      expect(JSON.parse(issued.stdout)).toMatchObject({ key: expect.stringMatching(/^ll_/) });
      expect(await refused("key", "list", "--account", EMAIL)).toMatch(
        /^error: The documents are behind the log/,
      );
      const again = await linkledger(["key", "issue", "--account", EMAIL, "--json"]);
      expect([again.code, again.stderr.match(/^warning: /gm)]).toEqual([0, ["warning: ", "warning: "]]);
      expect((await json("projections", "status")).head).toEqual(expect.any(String));
    },
  );
});
