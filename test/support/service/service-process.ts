// Runs the real service as its own process on a free port, for fault tests, benchmarks and the demo.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { operator } from "../commands/command-deps.ts";
import { until } from "../runtime/until.ts";
import { freePort } from "../servers/free-port.ts";
import { send } from "./ask.ts";
import { childEnvironment } from "./child-environment.ts";
import { endWithThisProcess } from "./end-with-this-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const START_TIMEOUT_MS = 120_000;

export type Environment = Record<string, string>;

export type ServiceProcess = {
  url: string;
  child: ChildProcess;
  /** Resolves when the process has gone. SIGTERM asks for a graceful stop, SIGKILL doesn't ask. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** The slug of a new link. @throws unless the answer is 201 */
  shorten(key: string | undefined, fields?: object): Promise<string>;
};

/** `node`: arguments of Node; `serve`: of the command; `program`: the folder of another program than ours. */
export type StartOptions = { node?: readonly string[]; serve?: readonly string[]; program?: string };

/** What an instance needs to be alone on the machine; the same again restarts it on the same data. */
export async function instanceOf(dataDir: string, more: Environment = {}): Promise<Environment> {
  const port = await freePort();
  return {
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    DATA_DIR: dataDir,
    TRUST_PROXY: "127.0.0.1/32",
    LOG_LEVEL: "error",
    ...more,
  };
}

/**
 * Resolves once /health/ready answers 200.
 * @throws with what the process printed, when it ends or isn't ready within two minutes
 */
export async function startService(
  instance: Environment,
  { node = [], serve = [], program = root }: StartOptions = {},
): Promise<ServiceProcess> {
  const words = ["--import=./src/runtime/compile-cache.js", ...node, "src/cli.ts", "serve", ...serve];
  const child = spawn(process.execPath, words, {
    cwd: program,
    env: childEnvironment(instance),
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithThisProcess(child);
  let printed = "";
  const keep = (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-8192);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const url = `http://127.0.0.1:${instance.PORT}`;
  const gone = once(child, "exit");
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await gone;
  };
  let health = "";
  const isReady = async () => {
    health = await askHealth(url);
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}:\n${printed}`);
    return health === "ready";
  };
  const what = () => `the service to be ready, it is ${health}:\n${printed}`;
  await until(what, isReady, { withinMs: START_TIMEOUT_MS, everyMs: 25 }).catch(async (error: unknown) => {
    await stop("SIGKILL");
    throw error;
  });
  const shorten = async (key = "", fields: object = {}) => {
    const body = { url: "https://example.com/", ...fields };
    const asked = { method: "POST", key, body };
    const made = await send<{ slug: string }>(Number(instance.PORT), "/api/v1/shorten", asked);
    if (made.status !== 201) throw new Error(`no link: ${made.status} ${made.text}`);
    return made.body.slug;
  };
  return { url, child, stop, shorten };
}

/** Runs one command of the command line with `--json` and gives the document that it prints. */
export async function runCommand<T>(instance: Environment, ...command: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, ["src/cli.ts", ...command, "--json"], {
    cwd: root,
    env: childEnvironment(instance),
  });
  return JSON.parse(stdout) as T;
}

/** An account of the tier and keys for it, made beside the service, or before it. */
export async function accountWithKeys(
  instance: Environment,
  tier: "free" | "developer",
  keys: number,
): Promise<{ accountId: string; keys: string[] }> {
  const config = parseConfig(instance);
  const backend = await openBackend(config);
  await backend.prepare();
  const deps = { ...runtimeDeps, ...backend, keyPrefix: config.keyPrefix };
  try {
    const { accountId } = await openAccount(deps, operator, { email: `${tier}@example.com`, tier });
    const issued: string[] = [];
    while (issued.length < keys) issued.push((await issueKey(deps, operator, accountId)).key);
    return { accountId, keys: issued };
  } finally {
    await backend.close();
  }
}

/** `ready`, or what keeps it from that. */
async function askHealth(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/health/ready`);
    const text = await response.text();
    return response.status === 200 ? "ready" : text;
  } catch (error) {
    return String(error);
  }
}
