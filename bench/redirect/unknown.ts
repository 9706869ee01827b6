// Requests for slugs that nobody made, each another one: throughput beside the bare server's 301, and memory.
import { measureSide } from "../compare/side.ts";
import { sampleMemory } from "../measure/resident-memory.ts";
import { whole } from "../report/report.ts";
import type { Bench } from "./bench.ts";

export type Unknown = {
  passed: boolean;
  /** Requests/s, and over the bare server's. */
  rate: number;
  rateRatio: number;
  cpuRatio: number;
  /** Resident, a second after the start and at the end. */
  firstMb: number;
  lastMb: number;
};

/** Twice as long as a round, so that memory shows. */
export async function measureUnknown(bench: Bench, seconds: number): Promise<Unknown> {
  const { load, bare, side, traffic, pid, report } = bench;
  const bareRun = await measureSide(load, bare, { traffic, seconds });
  const loading = { traffic: { kind: "unknown" as const }, seconds: 2 * seconds, expect: 404 };
  const [run, rssMb] = await sampleMemory(pid, () =>
    measureSide(load, { ...side, settle: async () => 0 }, loading),
  );
  const unknown = {
    passed: run.other + run.errors === 0,
    rate: run.rate,
    rateRatio: run.rate / bareRun.rate,
    cpuRatio: run.cpu.all / bareRun.cpu.all,
    firstMb: rssMb[0] ?? Number.NaN,
    lastMb: rssMb.at(-1) ?? Number.NaN,
  };
  report.line(
    `unknown slugs: ${whole(run.rate)}/s, ${unknown.rateRatio.toFixed(2)} of the bare server's 301, CPU ${unknown.cpuRatio.toFixed(2)} x, ` +
      `memory ${whole(unknown.firstMb)} to ${whole(unknown.lastMb)} MB`,
  );
  return unknown;
}
