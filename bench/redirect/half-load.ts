// The latency of redirects at half of the service's maximum, beside the bare server's at the same rate.
import type { LoadResult } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { median } from "../measure/statistics.ts";
import type { Bench } from "./bench.ts";

export type HalfLoad = { loads: LoadResult[]; p99: number; bareP99: number; p99Ratio: number };
export type HalfLoadOptions = { rate: number; seconds: number; rounds: number };

/** The medians of rounds in turns: the bare server's p99 of single runs differs by a factor of four, too. */
export async function measureHalfLoad(
  { load, bare, side, traffic, backend, report }: Bench,
  { rate, seconds, rounds }: HalfLoadOptions,
): Promise<HalfLoad> {
  const of = (url: string) => load.run({ url, traffic, seconds, rate });
  const bareLoads: LoadResult[] = [];
  const loads: LoadResult[] = [];
  for (let round = 0; round < rounds; round++) {
    bareLoads.push(await of(bare.url));
    loads.push(await of(side.url));
    await secondsToCatchUp(backend);
  }
  const [p99, bareP99] = [p99Of(loads), p99Of(bareLoads)];
  const p99Ratio = p99 / bareP99;
  const shown = [shownP99(loads), `bare ${shownP99(bareLoads)}`, `ratio ${p99Ratio.toFixed(2)}`];
  report.line(`at half load, ${rate}/s: ${shown.join(", ")}`);
  return { loads, p99, bareP99, p99Ratio };
}

function p99Of(loads: readonly LoadResult[]): number {
  return median(loads.map(({ p99 }) => p99));
}

function shownP99(loads: readonly LoadResult[]): string {
  const rounds = loads.map(({ p99 }) => p99.toFixed(1)).join(", ");
  return `p99 ${p99Of(loads).toFixed(2)} ms (rounds ${rounds})`;
}
