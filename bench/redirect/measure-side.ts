// One run of load against a server, with the CPU time that the server spends on it until everything is done.
import type { Load, LoadResult } from "../load/load.ts";
import { type CpuEach, cpuEach, threadCpu } from "../measure/thread-cpu.ts";
import type { Traffic } from "../traffic/requests.ts";

/** `settle`: resolves with seconds when the server has done what the requests asked for, such as folding clicks. */
export type Side = { url: string; pid: number; settle?: () => Promise<number> };

export type Run = LoadResult & {
  /** Of all threads, from the first request until the server had settled. */
  cpu: CpuEach;
  settledAfterS: number;
};

export type Loading = { traffic: Traffic; seconds: number; expect?: number; rate?: number };

export async function measureSide(load: Load, side: Side, loading: Loading): Promise<Run> {
  const before = threadCpu(side.pid);
  const result = await load.run({ url: side.url, ...loading });
  const settledAfterS = (await side.settle?.()) ?? 0;
  const cpu = cpuEach(before, threadCpu(side.pid), result.answered + result.other);
  return { ...result, cpu, settledAfterS };
}
