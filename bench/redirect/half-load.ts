// The latency of redirects at half of the service's maximum, beside the bare server's at the same rate.
import type { LoadResult } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import type { Bench } from "./bench.ts";

export type HalfLoad = { load: LoadResult; bare: LoadResult; p99Ratio: number };

export async function measureHalfLoad(bench: Bench, maximum: number, seconds: number): Promise<HalfLoad> {
  const { load, bare, side, traffic, backend, report } = bench;
  const rate = Math.round(maximum / 2);
  const of = (url: string) => load.run({ url, traffic, seconds, rate });
  const [bareRun, run] = [await of(bare.url), await of(side.url)];
  await secondsToCatchUp(backend);
  const p99Ratio = run.p99 / bareRun.p99;
  const beside = `bare ${bareRun.p99.toFixed(2)} ms`;
  report.line(
    `at half load, ${rate}/s: p99 ${run.p99.toFixed(2)} ms, ${beside}, ratio ${p99Ratio.toFixed(2)}`,
  );
  return { load: run, bare: bareRun, p99Ratio };
}
