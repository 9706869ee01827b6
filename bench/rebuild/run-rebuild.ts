// Runs `linkledger projections rebuild` as its own process, and watches its memory and CPU time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../../test/support/service/child-environment.ts";
import { endWithThisProcess } from "../../test/support/service/end-with-this-process.ts";
import type { Environment } from "../../test/support/service/service-process.ts";
import { peakMb } from "../measure/resident-memory.ts";
import { cpuEach, threadCpu } from "../measure/thread-cpu.ts";

/** `seconds`: as the command says, without its start. CPU: of all threads, with the start. */
export type Rebuild = { events: number; seconds: number; cpuSeconds: number; peakMb: number };

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SAMPLE_EVERY_MS = 100;

export async function runRebuild(instance: Environment): Promise<Rebuild> {
  const child = spawn("bin/linkledger", ["projections", "rebuild", "--json"], {
    cwd: ROOT,
    env: childEnvironment(instance),
    stdio: ["ignore", "pipe", "inherit"],
  });
  endWithThisProcess(child);
  const gone = once(child, "exit");
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  const pid = child.pid ?? 0;
  let peak = 0;
  let cpuSeconds = 0;
  const sampling = setInterval(() => {
    // NaN once the process has gone.
    peak = Math.max(peak, peakMb(pid) || 0);
    cpuSeconds = Math.max(cpuSeconds, cpuEach(new Map(), threadCpu(pid), 1).all / 1e6);
  }, SAMPLE_EVERY_MS);
  const [code] = await gone.finally(() => clearInterval(sampling));
  if (code !== 0) throw new Error(`projections rebuild ended with ${code}: ${printed}`);
  const { events, seconds } = JSON.parse(printed) as { events: number; seconds: number };
  return { events, seconds, cpuSeconds, peakMb: peak };
}
