// A whole production set-up for tests: our processes by role, on an EventStoreDB, a MongoDB and a Redis of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { type Config, parseConfig } from "../../../src/config/config.ts";
import { accountStream } from "../../../src/events/streams.ts";
import { whenProjected } from "../../../src/queries/read-your-writes.ts";
import { type Backend, openBackend } from "../../../src/service/stores/backend.ts";
import { operator } from "../commands/command-deps.ts";
import { type TemporaryFolder, temporaryFolder } from "../runtime/temporary-folder.ts";
import { until } from "../runtime/until.ts";
import { freePort } from "../servers/free-port.ts";
import { type Answer, type Ask, send } from "../service/ask.ts";
import { childEnvironment } from "../service/child-environment.ts";
import { endWithThisProcess } from "../service/end-with-this-process.ts";
import { type Environment, runCommand } from "../service/service-process.ts";
import { type OwnServers, ownServers } from "./own-servers.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** On a machine that is busy with other tests. */
const PATIENCE_MS = 300_000;
const READY_EVERY_MS = 200;

export type RoleProcess = {
  child: ChildProcess;
  port: number;
  /** Everything it logged. */
  printed(): string;
  ask<T = Record<string, unknown>>(path: string, given?: Ask): Promise<Answer<T>>;
  /** Resolves once /health/ready answers 200. */
  ready(): Promise<void>;
  /** Resolves when the process has gone. */
  end(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
};

export type Cluster = Pick<OwnServers, "redis" | "mongodb" | "events"> & {
  environment: Environment;
  /** Of a further process. */
  config: Config;
  /** Resolves once it listens, whether or not its stores are there. `clock`: one that a test moves. */
  start(roles: string, more?: Environment, clock?: () => Date): Promise<RoleProcess>;
  /** Beside the process that was started last of those that run. */
  command<T>(...command: string[]): Promise<T>;
  /** As a further process would see the stores. */
  backend: Backend;
  /** An account with one active key; needs a projector, and waits for it. */
  member(tier: "free" | "developer"): Promise<{ accountId: string; keyId: string; key: string }>;
  stop(): Promise<void>;
};

/** `beforeLog`: what others write before our log begins. */
export async function startCluster(
  more: Environment = {},
  { beforeLog }: { beforeLog?: (events: Cluster["events"]) => void } = {},
): Promise<Cluster> {
  const folder = await temporaryFolder();
  const servers = await ownServers();
  const { redis, mongodb, events } = servers;
  beforeLog?.(events);
  const environment: Environment = {
    ...servers.environment,
    BASE_URL: `http://${crypto.randomUUID().slice(0, 8)}.localhost`,
    TRUST_PROXY: "127.0.0.1/32",
    LOG_LEVEL: "warn",
    // The dashboard then names the plan, which tests wait for.
    PLAN_PRICE: "9 USD a month",
    ...more,
  };
  const started: { process: RoleProcess; environment: Environment }[] = [];
  let numbered = 0;
  const config = parseConfig({ ...environment, DATA_DIR: join(folder.path, "test") });
  const backend = await openBackend(config);
  await backend.prepare();
  const command = <T>(...words: string[]) => {
    const running = started.findLast(({ process: { child } }) => !child.killed && child.exitCode === null);
    return runCommand<T>(running?.environment ?? environment, ...words);
  };
  let members = 0;
  return {
    ...{ redis, mongodb, events, environment, config, command, backend },
    async start(roles, own = {}, clock) {
      numbered += 1;
      const DATA_DIR = await dataFolder(folder, numbered);
      const ofProcess = { ...environment, DATA_DIR, ...own };
      const process = await startProcess(ofProcess, roles, clock);
      started.push({ process, environment: ofProcess });
      return process;
    },
    async member(tier) {
      members += 1;
      const deps = { ...runtimeDeps, ...backend, keyPrefix: config.keyPrefix };
      const email = `member-${members}@example.com`;
      const { accountId } = await openAccount(deps, operator, { email, tier });
      const issued = await issueKey(deps, operator, accountId, {});
      const [last] = await backend.eventStore.read(accountStream(accountId), { backwards: true, limit: 1 });
      await whenProjected(deps, last?.position ?? "", () => PATIENCE_MS);
      return { accountId, ...issued };
    },
    async stop() {
      await Promise.all(started.map(({ process }) => process.end("SIGKILL")));
      await backend.close();
      await servers.stop();
      await folder.remove();
    },
  };
}

async function dataFolder(folder: TemporaryFolder, number: number): Promise<string> {
  const path = join(folder.path, `process-${number}`);
  await mkdir(path, { recursive: true });
  return path;
}

async function startProcess(
  environment: Environment,
  roles: string,
  clock?: () => Date,
): Promise<RoleProcess> {
  const port = await freePort();
  const program = clock
    ? ["test/support/cluster/serve-with-clock.ts", roles]
    : ["src/cli.ts", "serve", "--roles", roles];
  const child = spawn(process.execPath, program, {
    cwd: root,
    env: childEnvironment({ ...environment, PORT: String(port) }),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (printed += chunk));
  const gone = once(child, "exit");
  endWithThisProcess(child);
  const ask = async <T>(path: string, given: Ask = {}) => {
    if (clock) await tellTime(child, clock());
    return await send<T>(port, path, given);
  };
  const answers = (path: string) => {
    let last = "nothing";
    return until(
      () => `${roles} to answer ${path}, it was ${last}:\n${printed}`,
      async () => {
        if (child.exitCode !== null) throw new Error(`${roles} ended with ${child.exitCode}:\n${printed}`);
        const answer = await ask(path).catch((error: unknown) => ({ status: 0, text: String(error) }));
        last = `${answer.status} ${answer.text}`;
        return answer.status === 200;
      },
      { withinMs: PATIENCE_MS, everyMs: READY_EVERY_MS },
    );
  };
  const end = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await gone;
  };
  await answers("/health/live").catch(async (error: unknown) => {
    await end("SIGKILL");
    throw error;
  });
  return { child, port, printed: () => printed, ask, ready: () => answers("/health/ready"), end };
}

/** Resolves when the process goes by it. */
async function tellTime(child: ChildProcess, now: Date): Promise<void> {
  if (!child.connected) return;
  const heard = once(child, "message", { signal: AbortSignal.timeout(PATIENCE_MS) });
  child.send(now.getTime());
  await heard;
}
