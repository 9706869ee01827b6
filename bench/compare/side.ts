// Runs of load against servers in turn, with the CPU time that each spends until it has done everything.
import { startChild } from "../load/child.ts";
import type { Load, LoadOrder, LoadResult } from "../load/load.ts";
import { type CpuEach, cpuEach, threadCpu } from "../measure/thread-cpu.ts";

/** `settle`: resolves with seconds when the server has done what the requests asked for, such as folding clicks. */
export type Side = { url: string; pid: number; settle?: () => Promise<number> };

export type Run = LoadResult & {
  /** Of all threads, from the first request until the server had settled. */
  cpu: CpuEach;
  settledAfterS: number;
};

export type Loading = Pick<LoadOrder, "traffic" | "seconds"> & Partial<Pick<LoadOrder, "expect" | "rate">>;

export async function measureSide(load: Load, side: Side, loading: Loading): Promise<Run> {
  const before = threadCpu(side.pid);
  const { traffic, seconds, expect = 301, rate } = loading;
  const result = await load.run({ url: side.url, traffic, seconds, expect, rate });
  const settledAfterS = (await side.settle?.()) ?? 0;
  const cpu = cpuEach(before, threadCpu(side.pid), result.answered + result.other);
  return { ...result, cpu, settledAfterS };
}

export type Round = { bare: Run; service: Run };

/** Takes turns with the baseline, so that other load of the machine affects both alike. */
export async function alternate(
  load: Load,
  { bare, service }: { bare: Side; service: Side },
  loading: Loading & { rounds: number },
  onRound: (round: Round, number: number) => void = () => {},
): Promise<Round[]> {
  const rounds: Round[] = [];
  while (rounds.length < loading.rounds) {
    const one = {
      bare: await measureSide(load, bare, loading),
      service: await measureSide(load, service, loading),
    };
    rounds.push(one);
    onRound(one, rounds.length);
  }
  return rounds;
}

/** A baseline in its own process. */
export async function startBaseline(
  file: `baselines/${string}.ts`,
): Promise<Side & { stop: () => Promise<void> }> {
  const child = startChild(file);
  const { url } = await child.answer<{ url: string }>();
  return { url, pid: child.pid, stop: child.stop };
}
