// What the suites on real servers share: a skip that says what is missing, free ports, and processes that end.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, it } from "vitest";
import { isLong } from "../runtime/effort.ts";
import { until } from "../runtime/until.ts";
import { endWithThisProcess } from "../service/end-with-this-process.ts";

const READY_WITHIN_MS = 15_000;

/**
 * `reason`: why there is none, and how to get one; undefined when there is one. `installable`: false when no package
 * brings it, so that CI can't be asked to have it.
 */
export type Server = { name: string; reason: string | undefined; installable?: false };

/**
 * The suite, or one skipped test that says which server it needs; REQUIRE_SERVERS=1 makes the absence of a server
 * that .ci/install-servers installs a failure.
 */
export function onServer(server: Server, suite: () => void): void {
  if (server.reason === undefined) {
    suite();
    return;
  }
  const title = `skipped: needs ${server.name} (${server.reason})`;
  describe(server.name, () => {
    if (process.env.REQUIRE_SERVERS === "1" && server.installable !== false) {
      it(`needs ${server.name}`, () => {
        throw new Error(`REQUIRE_SERVERS is set, but ${server.reason}`);
      });
    } else {
      process.stderr.write(`${title}\n`);
      it.skip(title);
    }
  });
}

/** The same, but in the short form (effort.ts) one skipped test: for suites that take half a minute. */
export function onServerAtLength(server: Server, suite: () => void): void {
  if (isLong) onServer(server, suite);
  else it.skip(`on ${server.name}: part of the long form (TEST_LONG=1)`, () => undefined);
}

/**
 * A server process of ours. `pause` stops it without closing its connections, as a hung machine would, and resolves
 * when it has stopped: until then it may still answer.
 */
export type ServerProcess = {
  port: number;
  kill(): Promise<void>;
  /** On the same port and data. */
  start(): Promise<void>;
  pause(): Promise<void>;
  resume(): void;
};

/** Not started yet. `command`: program and arguments; what it prints is told when it doesn't come up. */
export function serverProcess(port: number, command: readonly [string, ...string[]]): ServerProcess {
  let child: ChildProcess | undefined;
  return {
    port,
    async start() {
      const [program, ...args] = command;
      // An open standard input that closes with us: the MongoDB-compatible server ends with it.
      const started = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
      child = started;
      endWithThisProcess(started);
      let printed = "";
      for (const stream of [started.stdout, started.stderr]) {
        stream.on("data", (chunk: Buffer) => {
          printed = (printed + chunk.toString()).slice(-4096);
        });
      }
      started.on("error", (error) => {
        printed += error.message;
      });
      await listening(port, () => started.exitCode !== null || started.pid === undefined).catch((error) => {
        started.kill("SIGKILL");
        throw new Error(`${program} did not start: ${printed}`, { cause: error });
      });
    },
    async kill() {
      const running = child;
      child = undefined;
      if (!running || running.exitCode !== null || running.signalCode !== null) return;
      const gone = once(running, "exit");
      running.kill("SIGKILL");
      await gone;
    },
    async pause() {
      child?.kill("SIGSTOP");
      const { pid } = child ?? {};
      if (pid !== undefined)
        await until("every thread to stand still", () => hasStopped(pid), { everyMs: 5 });
    },
    resume: () => void child?.kill("SIGCONT"),
  };
}

/** Every thread: the signal reaches them one after the other. Where there is no /proc it is taken at its word. */
function hasStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) =>
      /\) [Tt] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")),
    );
  } catch {
    return true;
  }
}

/** A port tells nobody that it has opened, so it is asked again and again. */
async function listening(port: number, ended: () => boolean): Promise<void> {
  for (const deadline = Date.now() + READY_WITHIN_MS; ; await sleep(25)) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch (error) {
      if (ended() || Date.now() > deadline) throw error;
    } finally {
      socket.destroy();
    }
  }
}
