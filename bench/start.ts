// `npm run bench start`: what a start of the whole service costs, of this checkout and of another one in turns.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../test/support/servers/free-port.ts";
import { median } from "./report.ts";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const LONGEST_START_MS = 60_000;
/** For threads that are opened beside the start. */
const SETTLED_AFTER_MS = 2_000;

type Start = { cpuSeconds: number; megabytes: number };

/** `against`: the folder of another checkout. MONGODB_URL, REDIS_URL and EVENTSTORE_URL are those of the environment. */
export async function benchStart({ rounds, against }: { rounds: number; against?: string | undefined }) {
  const checkouts = [{ name: "this one", folder: HERE }];
  if (against) checkouts.push({ name: "the other", folder: against });
  const starts = new Map(checkouts.map(({ name }) => [name, [] as Start[]]));
  for (let round = 0; round < rounds; round++)
    for (const { name, folder } of checkouts) starts.get(name)?.push(await startOnce(folder));
  for (const [name, of] of starts) {
    const cpu = median(of.map(({ cpuSeconds }) => cpuSeconds));
    const memory = median(of.map(({ megabytes }) => megabytes));
    console.log(`${name.padEnd(10)} ${cpu.toFixed(2)} s of CPU, ${memory.toFixed(0)} MB resident`);
  }
}

/** A service with all roles on a data folder of its own, two seconds after it was ready. */
async function startOnce(checkout: string): Promise<Start> {
  const folder = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  const port = String(await freePort());
  const env = { ...process.env, DATA_DIR: folder, PORT: port, BASE_URL: "", LOG_LEVEL: "silent" };
  const service = spawn(process.execPath, [join(checkout, "src/main.ts")], { env, stdio: "inherit" });
  const ended = once(service, "exit");
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(`${url}/health/ready`);
    await delay(SETTLED_AFTER_MS);
    const text = await (await fetch(`${url}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    return {
      cpuSeconds: value("process_cpu_seconds_total"),
      megabytes: value("process_resident_memory_bytes") / 1024 / 1024,
    };
  } finally {
    service.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

async function ready(url: string): Promise<void> {
  const until = performance.now() + LONGEST_START_MS;
  while (performance.now() < until) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await delay(50);
  }
  throw new Error(`${url} is not ready after ${LONGEST_START_MS} ms`);
}
