// Compares runs of the service with runs of a baseline: medians, and their ratios.
import { median } from "../measure/statistics.ts";
import { whole } from "../report/report.ts";
import type { Round, Run } from "./side.ts";

export type Comparison = {
  /** µs of CPU a request, all threads, everything folded. */
  cpu: { bare: number; service: number; ratio: number; ofRounds: number[]; threads: Record<string, number> };
  /** Requests/s. */
  rate: { bare: number; service: number; ratio: number; ofRounds: number[] };
  p50: { bare: number; service: number; ratio: number };
  p99: { bare: number; service: number; ratio: number };
  /** The longest, after the last answer of a round. */
  completeAfterS: number;
};

export function compare(rounds: readonly Round[]): Comparison {
  const of = (value: (run: Run) => number) => {
    const [bare, service] = (["bare", "service"] as const).map((side) =>
      median(rounds.map((round) => value(round[side]))),
    ) as [number, number];
    return { bare, service, ratio: service / bare };
  };
  const ofRounds = (value: (run: Run) => number) =>
    rounds.map((round) => value(round.service) / value(round.bare));
  const [cpu, rate] = [({ cpu }: Run) => cpu.all, ({ rate }: Run) => rate];
  return {
    cpu: {
      ...of(cpu),
      ofRounds: ofRounds(cpu),
      threads: threadMedians(rounds.map(({ service }) => service)),
    },
    rate: { ...of(rate), ofRounds: ofRounds(rate) },
    p50: of((run) => run.p50),
    p99: of((run) => run.p99),
    completeAfterS: Math.max(...rounds.map(({ service }) => service.settledAfterS)),
  };
}

/** With the CPU time first, as it is the steadiest. `names`: of the two sides. */
export function comparisonTable(
  { cpu, rate, p50, p99 }: Comparison,
  names: { bare: string; service: string },
): string[][] {
  const row = (
    what: string,
    of: { bare: number; service: number; ratio: number },
    show: (value: number) => string,
  ) => [what, ...[show(of.bare), show(of.service), of.ratio.toFixed(2)]];
  const decimal = (value: number) => value.toFixed(1);
  return [
    ["", names.bare, names.service, "ratio"],
    row("µs of CPU a request", cpu, decimal),
    ...Object.entries(cpu.threads).map(([name, micros]) => [`  ${name}`, "", decimal(micros), ""]),
    row("requests/s", rate, whole),
    row("p50 ms", p50, (ms) => ms.toFixed(2)),
    row("p99 ms", p99, (ms) => ms.toFixed(2)),
  ];
}

export function roundLine(number: number, { bare, service }: Round): string {
  const cpu = `CPU ${bare.cpu.all.toFixed(1)} and ${service.cpu.all.toFixed(1)} µs, ${(service.cpu.all / bare.cpu.all).toFixed(2)} x`;
  const rate = `${whole(bare.rate)}/s and ${whole(service.rate)}/s, ${(service.rate / bare.rate).toFixed(2)} x`;
  return `round ${number}   ${cpu}   ${rate}   complete after ${service.settledAfterS.toFixed(1)} s`;
}

/** Threads that take at least half a microsecond. */
function threadMedians(runs: readonly Run[]): Record<string, number> {
  const names = new Set(runs.flatMap(({ cpu }) => cpu.threads.map(({ name }) => name)));
  const microsOf = (name: string, { cpu }: Run) =>
    cpu.threads.find((thread) => thread.name === name)?.micros ?? 0;
  return Object.fromEntries(
    [...names]
      .map((name) => [name, median(runs.map((run) => microsOf(name, run)))] as const)
      .filter(([, micros]) => micros >= 0.5)
      .sort(([, a], [, b]) => b - a),
  );
}
