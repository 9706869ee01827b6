// `npm run bench start`: time of a command and of a start of the service, compared with a bare Node, for this checkout
// and alternately for another one. NODE_DISABLE_COMPILE_CACHE=1 measures the first start after an installation.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import { freePort } from "../test/support/servers/free-port.ts";
import { endWithThisProcess } from "../test/support/service/end-with-this-process.ts";
import { median } from "./measure/statistics.ts";
import type { Options } from "./options.ts";
import type { Report } from "./report/report.ts";
import type { Outcome } from "./report/results.ts";
import { withDataFolder } from "./setup/data-folder.ts";
import { seedLinks } from "./setup/seed-links.ts";
import { benchSlug } from "./traffic/requests.ts";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const LONGEST_START_MS = 60_000;
const POLL_EVERY_MS = 10;
/** Time for threads that are still starting when the service is ready. */
const SETTLED_AFTER_MS = 2_000;
const COMMAND = ["account", "list", "--json"];

type Environment = Record<string, string | undefined>;
/** Seconds, except for the memory in MB. */
type Measured = Record<string, number>;

/** `against`: the folder of another checkout. MONGODB_URL, REDIS_URL and EVENTSTORE_URL are those of the environment. */
export async function benchStart({ rounds = 3, against }: Options, report: Report): Promise<Outcome> {
  const checkouts = [{ name: "this one", folder: HERE }];
  if (against) checkouts.push({ name: "the other", folder: against });
  report.line(`medians of ${rounds} rounds; x: times a bare \`node -e 0\` of the same run`);
  const results = new Map(checkouts.map(({ name }) => [name, [] as Measured[]]));
  // Round 0 is not counted: it fills the compile cache and folds the links.
  for (let round = 0; round <= rounds; round++)
    for (const { name, folder } of checkouts) {
      const measured = await inDataFolder((env) => measure(folder, env));
      if (round > 0) results.get(name)?.push(measured);
    }
  for (const [name, of] of results) print(name, of, report);
  return { passed: true, measured: Object.fromEntries(results) };
}

async function measure(checkout: string, env: Environment): Promise<Measured> {
  const bare = await run([process.execPath, "-e", "0"], checkout, env);
  const command = await run(["bin/linkledger", ...COMMAND], checkout, env);
  return {
    "bare node": bare.seconds,
    "bare node, CPU": bare.cpuSeconds,
    "a command": command.seconds,
    "a command, CPU": command.cpuSeconds,
    ...(await startOnce(checkout, env)),
  };
}

function print(name: string, of: readonly Measured[], report: Report): void {
  const medianOf = (field: string) => median(of.map((measured) => measured[field] ?? Number.NaN));
  report.line(`\n${name}`);
  for (const field of Object.keys(of[0] ?? {})) {
    if (field === "MB resident") {
      report.line(`  ${field.padEnd(26)} ${medianOf(field).toFixed(0).padStart(7)}`);
      continue;
    }
    const bare = medianOf(field.endsWith(", CPU") ? "bare node, CPU" : "bare node");
    const times = (medianOf(field) / bare).toFixed(1).padStart(6);
    report.line(`  ${field.padEnd(26)} ${medianOf(field).toFixed(2).padStart(7)} s ${times} x`);
  }
}

/** Starts what `npm start` runs, without npm, on a new data folder with one link. */
async function startOnce(checkout: string, env: Environment): Promise<Measured> {
  const url = `http://127.0.0.1:${env.PORT}`;
  const begun = performance.now();
  const service = spawn("bin/linkledger", ["serve"], {
    cwd: checkout,
    env,
    stdio: "inherit",
  });
  endWithThisProcess(service);
  const ended = once(service, "exit");
  const secondsUntil = async (path: string, status: number) => {
    await answers(`${url}${path}`, status);
    return (performance.now() - begun) / 1_000;
  };
  try {
    const [ready, redirect] = await Promise.all([
      secondsUntil("/health/ready", 200),
      secondsUntil(`/${benchSlug(0)}`, 301),
    ]);
    await delay(SETTLED_AFTER_MS);
    const text = await (await fetch(`${url}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    return {
      "start until first redirect": redirect,
      "start until ready": ready,
      "start, CPU": value("process_cpu_seconds_total"),
      "MB resident": value("process_resident_memory_bytes") / 1024 / 1024,
    };
  } finally {
    service.kill("SIGTERM");
    await ended;
  }
}

/** In a shell, because its `times` reports the CPU time of child processes. */
async function run(args: readonly string[], cwd: string, env: Environment) {
  const begun = performance.now();
  const script = '"$0" "$@" > /dev/null; times';
  const { stdout } = await promisify(execFile)("sh", ["-c", script, ...args], { cwd, env });
  const seconds = (performance.now() - begun) / 1_000;
  const times = [...(stdout.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return { seconds, cpuSeconds: times.reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0) };
}

async function inDataFolder(use: (env: Environment) => Promise<Measured>): Promise<Measured> {
  return await withDataFolder(async (folder) => {
    const port = String(await freePort());
    const given = { ...process.env, DATA_DIR: folder, PORT: port, BASE_URL: "", LOG_LEVEL: "silent" };
    const config = parseConfig(given);
    const backend = await openBackend(config, { offThread: false });
    await seedLinks(backend, config.baseUrl, 1).finally(() => backend.close());
    return await use(given);
  });
}

async function answers(url: string, status: number): Promise<void> {
  const until = performance.now() + LONGEST_START_MS;
  while (performance.now() < until) {
    const answer = await fetch(url, { redirect: "manual" }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === status) return;
    await delay(POLL_EVERY_MS);
  }
  throw new Error(`${url} does not answer ${status} after ${LONGEST_START_MS} ms`);
}
