// The latency of redirects at half of the service's maximum.
import type { LoadResult } from "../load/load.ts";
import { measureRound } from "../measure/rounds.ts";
import { median } from "../measure/statistics.ts";
import type { Bench } from "./bench.ts";

export type HalfLoad = { loads: LoadResult[]; p99: number };

/** The median of rounds, as the p99 of single ones differs by a factor of four. */
export async function measureHalfLoad(
  { load, server, traffic, report }: Pick<Bench, "load" | "server" | "traffic" | "report">,
  { rate, seconds, rounds: amount }: { rate: number; seconds: number; rounds: number },
): Promise<HalfLoad> {
  const loads: LoadResult[] = [];
  while (loads.length < amount) loads.push(await measureRound(load, server, { traffic, seconds, rate }));
  const p99 = median(loads.map((round) => round.p99));
  const ofRounds = loads.map((round) => round.p99.toFixed(1)).join(", ");
  report.line(`at half load, ${rate}/s: p99 ${p99.toFixed(2)} ms (rounds ${ofRounds})`);
  return { loads, p99 };
}
