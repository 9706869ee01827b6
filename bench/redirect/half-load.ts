// The latency of redirects at half of the service's maximum, beside the bare server's at the same rate.
import { compare } from "../compare/comparison.ts";
import { alternate, type Run } from "../compare/side.ts";
import type { LoadResult } from "../load/load.ts";
import type { Bench } from "./bench.ts";

export type HalfLoad = { loads: LoadResult[]; p99: number; bareP99: number; p99Ratio: number };

/** The medians of rounds in turns: the bare server's p99 of single runs differs by a factor of four, too. */
export async function measureHalfLoad(
  { load, bare, side, traffic, report }: Pick<Bench, "load" | "bare" | "side" | "traffic" | "report">,
  { rate, seconds, rounds: amount }: { rate: number; seconds: number; rounds: number },
): Promise<HalfLoad> {
  const loading = { traffic, seconds, rate, rounds: amount };
  const rounds = await alternate(load, { bare, service: side }, loading);
  const { p99 } = compare(rounds);
  const [ofBare, ofService] = [rounds.map((round) => round.bare), rounds.map(({ service }) => service)];
  const [own, beside] = [shownP99(p99.service, ofService), `bare ${shownP99(p99.bare, ofBare)}`];
  report.line(`at half load, ${rate}/s: ${own}, ${beside}, ratio ${p99.ratio.toFixed(2)}`);
  return { loads: ofService, p99: p99.service, bareP99: p99.bare, p99Ratio: p99.ratio };
}

function shownP99(median: number, runs: readonly Run[]): string {
  return `p99 ${median.toFixed(2)} ms (rounds ${runs.map(({ p99 }) => p99.toFixed(1)).join(", ")})`;
}
