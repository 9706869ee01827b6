// Rounds of load against a server, with the CPU time that each takes until everything is done, and their medians.
import type { Load, LoadOrder, LoadResult } from "../load/load.ts";
import { median, whole } from "../report.ts";
import { cpuSeconds } from "./process-usage.ts";

/** `settle`: resolves with seconds when the server has done what the requests asked for, such as folding clicks. */
export type Server = { url: string; pid: number; settle?: () => Promise<number> };

export type Rounds = {
  /** All that was sent, with the round that warms up. */
  runs: LoadResult[];
  /** Medians of the rounds. `cpu`: µs a request, from the first one until the server had settled. */
  median: { rate: number; cpu: number; p50: number; p99: number; settledAfterS: number };
};

export type Loading = Pick<LoadOrder, "traffic" | "seconds" | "expect"> & { rounds: number };

/** After a round that isn't counted, as the server's code is still being compiled and its caches filled. */
export async function measureRounds(load: Load, server: Server, loading: Loading): Promise<Rounds> {
  const { rounds, ...order } = loading;
  const measured: (LoadResult & Rounds["median"])[] = [];
  while (measured.length < 1 + rounds) {
    const before = cpuSeconds(server.pid);
    const result = await load.run({ url: server.url, ...order });
    const settledAfterS = (await server.settle?.()) ?? 0;
    const cpu = ((cpuSeconds(server.pid) - before) * 1e6) / (result.answered + result.other);
    measured.push({ ...result, cpu, settledAfterS });
  }
  const of = (field: keyof Rounds["median"]) => median(measured.slice(1).map((round) => round[field]));
  const medians = { rate: of("rate"), cpu: of("cpu"), p50: of("p50"), p99: of("p99") };
  return { runs: measured, median: { ...medians, settledAfterS: of("settledAfterS") } };
}

export const ROUNDS_HEAD = ["", "requests/s", "µs of CPU each", "p50 ms", "p99 ms", "counted after s"];

export function roundsRow(name: string, { rate, cpu, p50, p99, settledAfterS }: Rounds["median"]): string[] {
  return [name, whole(rate), whole(cpu), p50.toFixed(1), p99.toFixed(1), settledAfterS.toFixed(1)];
}
