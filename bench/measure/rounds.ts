// Rounds of load against a server, with the CPU time that each takes until everything is done, and their medians.
import type { Load, LoadOrder, LoadResult } from "../load/load.ts";
import { whole } from "../report/report.ts";
import { median } from "./statistics.ts";
import { type CpuEach, cpuEach, threadCpu } from "./thread-cpu.ts";

/** `settle`: resolves with seconds when the server has done what the requests asked for, such as folding clicks. */
export type Server = { url: string; pid: number; settle?: () => Promise<number> };

export type Round = LoadResult & {
  /** Of all threads, from the first request until the server had settled. */
  cpu: CpuEach;
  settledAfterS: number;
};

export type Loading = Pick<LoadOrder, "traffic" | "seconds"> & Partial<Pick<LoadOrder, "expect" | "rate">>;

export async function measureRound(load: Load, server: Server, loading: Loading): Promise<Round> {
  const before = threadCpu(server.pid);
  const { traffic, seconds, expect = 301, rate } = loading;
  const result = await load.run({ url: server.url, traffic, seconds, expect, rate });
  const settledAfterS = (await server.settle?.()) ?? 0;
  const cpu = cpuEach(before, threadCpu(server.pid), result.answered + result.other);
  return { ...result, cpu, settledAfterS };
}

/** After one that isn't counted, as the server's threads are still being compiled and its caches filled. */
export async function measureRounds(
  load: Load,
  server: Server,
  { rounds: amount, ...loading }: Loading & { rounds: number },
  onRound: (line: string) => void,
): Promise<{ warmUp: Round; rounds: Round[] }> {
  const warmUp = await measureRound(load, server, loading);
  const rounds: Round[] = [];
  while (rounds.length < amount) {
    const round = await measureRound(load, server, loading);
    rounds.push(round);
    onRound(roundLine(rounds.length, round));
  }
  return { warmUp, rounds };
}

/** `cpu`: µs a request, all threads, everything folded. `completeAfterS`: the longest, after a round's last answer. */
export type Medians = {
  cpu: number;
  threads: Record<string, number>;
  rate: number;
  p50: number;
  p99: number;
  completeAfterS: number;
};

export function mediansOf(rounds: readonly Round[]): Medians {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  return {
    cpu: of(({ cpu }) => cpu.all),
    threads: threadMedians(rounds),
    rate: of(({ rate }) => rate),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    completeAfterS: Math.max(...rounds.map(({ settledAfterS }) => settledAfterS)),
  };
}

/** With the CPU time first, as it is the steadiest. */
export function mediansTable({ cpu, threads, rate, p50, p99 }: Medians): string[][] {
  return [
    ["", "median"],
    ["µs of CPU a request", cpu.toFixed(1)],
    ...Object.entries(threads).map(([name, micros]) => [`  ${name}`, micros.toFixed(1)]),
    ["requests/s", whole(rate)],
    ["p50 ms", p50.toFixed(2)],
    ["p99 ms", p99.toFixed(2)],
  ];
}

function roundLine(number: number, { cpu, rate, settledAfterS }: Round): string {
  return `round ${number}   CPU ${cpu.all.toFixed(1)} µs   ${whole(rate)}/s   complete after ${settledAfterS.toFixed(1)} s`;
}

/** Threads that take at least half a microsecond. */
function threadMedians(rounds: readonly Round[]): Record<string, number> {
  const names = new Set(rounds.flatMap(({ cpu }) => cpu.threads.map(({ name }) => name)));
  const microsOf = (name: string, { cpu }: Round) =>
    cpu.threads.find((thread) => thread.name === name)?.micros ?? 0;
  return Object.fromEntries(
    [...names]
      .map((name) => [name, median(rounds.map((round) => microsOf(name, round)))] as const)
      .filter(([, micros]) => micros >= 0.5)
      .sort(([, a], [, b]) => b - a),
  );
}
