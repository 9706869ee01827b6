// Loaded into a service with --import: measures how late its HTTP thread's event loop runs, and tells who asks.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createHistogram } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** Milliseconds that a timer fired late. `samples`: timers that fired; `share`: of the process's CPU time, 0 to 1. */
export type LoopDelay = { samples: number; p99: number; p999: number; max: number; share: number };

const EVERY_MS = 5;

/** GET /reset begins to measure, GET /read answers with what it was since then. */
function listen(port: number): void {
  const delays = createHistogram();
  const ms = (microseconds: number) => Math.round(microseconds / 100) / 10;
  sample((lateMs) => delays.record(Math.max(1, Math.round(lateMs * 1_000))));
  let start = { thread: process.threadCpuUsage(), all: process.cpuUsage() };
  createServer((request, response) => {
    if (request.url === "/reset") {
      delays.reset();
      start = { thread: process.threadCpuUsage(), all: process.cpuUsage() };
    }
    const [thread, all] = [process.threadCpuUsage(start.thread), process.cpuUsage(start.all)].map(
      ({ user, system }) => user + system,
    ) as [number, number];
    const share = Math.round((100 * thread) / (all || 1)) / 100;
    const [p99, p999] = [99, 99.9].map((share) => ms(delays.percentile(share)));
    response.end(JSON.stringify({ samples: delays.count, p99, p999, max: ms(delays.max), share }));
  })
    .listen(port, "127.0.0.1")
    .unref();
}

/**
 * As monitorEventLoopDelay does, but without the time in which the thread was ready to run and the machine had no core
 * for it: what other programs do is not the service's delay. (Linux tells; elsewhere it is included.)
 */
function sample(record: (lateMs: number) => void): void {
  let [at, waited] = [performance.now(), waitedForCore()];
  setInterval(() => {
    const [now, waitedNow] = [performance.now(), waitedForCore()];
    record(now - at - EVERY_MS - (waitedNow - waited));
    [at, waited] = [now, waitedNow];
  }, EVERY_MS).unref();
}

/** Milliseconds since the thread began. */
function waitedForCore(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

if (isMainThread && process.env.PROBE_PORT) listen(Number(process.env.PROBE_PORT));
