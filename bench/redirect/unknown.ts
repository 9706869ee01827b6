// Requests for slugs that nobody made, each another one: throughput, CPU time and memory.

import { sampleMemory } from "../measure/resident-memory.ts";
import { measureRound } from "../measure/rounds.ts";
import { whole } from "../report/report.ts";
import type { Bench } from "./bench.ts";

export type Unknown = {
  passed: boolean;
  /** Requests/s. */
  rate: number;
  /** µs a request. */
  cpu: number;
  /** Resident, a second after the start and at the end. */
  firstMb: number;
  lastMb: number;
};

/** Twice as long as a round, so that memory shows. */
export async function measureUnknown(bench: Bench, seconds: number): Promise<Unknown> {
  const { load, server, pid, report } = bench;
  const loading = { traffic: { kind: "unknown" as const }, seconds: 2 * seconds, expect: 404 };
  const [run, rssMb] = await sampleMemory(pid, () =>
    measureRound(load, { ...server, settle: async () => 0 }, loading),
  );
  const unknown = {
    passed: run.other + run.errors === 0,
    rate: run.rate,
    cpu: run.cpu.all,
    firstMb: rssMb[0] ?? Number.NaN,
    lastMb: rssMb.at(-1) ?? Number.NaN,
  };
  report.line(
    `unknown slugs: ${whole(run.rate)}/s, CPU ${unknown.cpu.toFixed(1)} µs, ` +
      `memory ${whole(unknown.firstMb)} to ${whole(unknown.lastMb)} MB`,
  );
  return unknown;
}
