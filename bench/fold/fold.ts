// `npm run bench fold`: folding while redirects are answered: how soon a click shows in analytics at a steady rate, and how
// far the documents fall behind in a flood.
import { allProjections } from "../../src/projections/groups.ts";
import { type Load, startLoad } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { reckon } from "../measure/reckon.ts";
import { sampleMemory } from "../measure/resident-memory.ts";
import { type Options, partsOf } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { type BenchService, withService } from "../setup/bench-service.ts";
import type { Traffic } from "../traffic/requests.ts";
import { clicksFolded } from "./clicks-folded.ts";
import { measureVisibility, type Probe, seedProbes } from "./visibility.ts";

const PARTS = ["visibility", "flood"] as const;
const WARM_UP_S = 2;
const VISIBILITY_S = 30;

/**
 * `seconds`: of the flood; `rate`: clicks a second while visibility is measured; `only`: `visibility` or `flood`. Passes
 * when every click is in the log and in the totals exactly once.
 */
export async function benchFold(options: Options, report: Report): Promise<Outcome> {
  const { links = 100_000 } = options;
  const only = partsOf(options.only, PARTS);
  const probes: Probe[] = [];
  const seed = async ({ backend, config }: Pick<BenchService, "backend" | "config">) =>
    void probes.push(...(await seedProbes(backend, config)));
  return await withService(options, { links, seed }, (bench) =>
    run({ ...options, only }, bench, probes, report),
  );
}

async function run(
  options: Options & { only: string[] },
  bench: BenchService,
  probes: Probe[],
  report: Report,
): Promise<Outcome> {
  const { links = 100_000, draw = "even", seconds = 60, rate = 5000, only } = options;
  const { backend, service } = bench;
  const traffic: Traffic = { kind: "visits", links, draw };
  const load = startLoad();
  report.line(`${whole(links)} links (${draw})`);
  try {
    const runs = [await load.run({ url: service.url, traffic, seconds: WARM_UP_S })];
    // The seeded links too, whose documents the projector makes when the service starts.
    await secondsToCatchUp(backend, allProjections);
    const visible = only.includes("visibility") ? await visibility() : undefined;
    if (visible) runs.push(visible.load);
    await secondsToCatchUp(backend);
    const flooded = only.includes("flood")
      ? await flood(bench, load, { traffic, seconds }, report)
      : undefined;
    if (flooded) runs.push(flooded.load);
    await secondsToCatchUp(backend);
    const reckoned = await reckon(backend, runs, report, visible?.clicks);
    return { passed: reckoned.passed, measured: { visibility: visible, flood: flooded, reckoned } };
  } finally {
    await load.stop();
  }

  async function visibility() {
    const forS = Math.min(VISIBILITY_S, seconds);
    // The load lasts longer than the probes, so that their last clicks don't meet an idle projector.
    const loading = load.run({ url: service.url, traffic, rate, seconds: forS + WARM_UP_S });
    const probed = await measureVisibility(service.url, probes, forS);
    const loaded = await loading;
    report.line(
      `visible in analytics after p50 ${whole(probed.p50)} ms, p99 ${whole(probed.p99)} ms, most ${whole(probed.max)} ms` +
        ` (${probed.clicks} clicks, while ${whole(loaded.rate)} clicks/s of ${whole(rate)} go on)`,
    );
    return { ...probed, load: loaded };
  }
}

/** At full rate; `cameIn` and `folded` in clicks/s while it goes on. */
async function flood(
  { backend, accountId, pid, service }: BenchService,
  load: Load,
  { traffic, seconds }: { traffic: Traffic; seconds: number },
  report: Report,
) {
  const before = await clicksFolded(backend, accountId);
  const run = () => load.run({ url: service.url, traffic, seconds });
  const [result, rssMb] = await sampleMemory(pid, run);
  const folded = ((await clicksFolded(backend, accountId)) - before) / result.seconds;
  const completeAfterS = await secondsToCatchUp(backend);
  const [cameIn, mostMb] = [result.rate, Math.max(...rssMb)];
  report.line(
    `flood of ${result.seconds.toFixed(0)} s: ${whole(cameIn)} clicks/s came in, ${whole(folded)} were folded meanwhile;` +
      ` analytics complete ${completeAfterS.toFixed(1)} s after its end; at most ${whole(mostMb)} MB`,
  );
  return { cameIn, folded, completeAfterS, mostMb, load: result };
}
