// `npm run bench floor`: what the least that records and counts redirects, or creates links, reaches on this machine: two
// plain programs of one HTTP thread and two others, beside which our own ratios and floods can be judged.
import type { Comparison } from "../compare/comparison.ts";
import { type Side, startBaseline } from "../compare/side.ts";
import { type Load, type LoadResult, startLoad } from "../load/load.ts";
import { sampleMemory } from "../measure/resident-memory.ts";
import { type Options, partsOf } from "../options.ts";
import { type HalfLoad, measureHalfLoad } from "../redirect/half-load.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { benchServers } from "../setup/servers.ts";
import { LINKS, type Traffic } from "../traffic/requests.ts";
import { openBareCounts } from "./clicks/bare-counts.ts";
import { writeBareLinks } from "./clicks/bare-links.ts";
import { measureCreates } from "./creates.ts";
import { type FloorProcess, startFloor } from "./floor-process.ts";
import { measureRecount } from "./recount.ts";
import { measureRounds } from "./rounds.ts";

const PARTS = ["redirect", "flood", "recount", "create"] as const;
const FLOOD_S = 60;

type Clicks = { load: Load; bare: Side; side: FloorProcess; traffic: Traffic; report: Report };
type Redirects = Comparison & { half: HalfLoad | undefined; loads: LoadResult[] };

/**
 * `only`: `redirect`, `flood`, `recount`, which folds the log of the others anew, or `create`. `events`: how many are
 * folded anew, links and clicks. Passes when no click and no link is missing.
 */
export async function benchFloor(options: Options, report: Report): Promise<Outcome> {
  const only = partsOf(options.only, PARTS);
  if (only.includes("recount") && !only.includes("redirect") && !only.includes("flood"))
    throw new TypeError("recount folds the clicks of redirect or flood anew: name one of them, too");
  const load = startLoad();
  try {
    const clicks = only.some((part) => part !== "create")
      ? await measureClicks(load, { ...options, only }, report)
      : undefined;
    const creates = only.includes("create") ? await measureCreates(load, options, report) : undefined;
    const passed = (clicks?.passed ?? true) && (creates?.passed ?? true);
    return { passed, measured: { ...clicks, creates } };
  } finally {
    await load.stop();
  }
}

async function measureClicks(load: Load, options: Options & { only: string[] }, report: Report) {
  const { links = LINKS, draw = "zipf", durable, events, only } = options;
  const durability = durable ? "durable" : "batched";
  const servers = await benchServers(options.double);
  const named = servers.log ? [servers.log.url, servers.log.prefix] : [];
  return await withDataFolder(async (folder) => {
    writeBareLinks(folder, links);
    const bare = await startBaseline("baselines/bare-fastify.ts");
    const side = await startFloor("floor/clicks/bare-recorder.ts", folder, durability, ...named);
    const clicks: Clicks = { load, bare, side, traffic: { kind: "visits", links, draw }, report };
    report.line(`${whole(links)} links (${draw}), ${durability}`);
    try {
      const redirects = only.includes("redirect") ? await measureRedirects(clicks, options) : undefined;
      const flood = only.includes("flood")
        ? await measureFlood(clicks, options.seconds ?? FLOOD_S)
        : undefined;
      await side.settle();
      const recount =
        only.includes("recount") && !servers.log
          ? measureRecount(folder, { links, events }, report)
          : undefined;
      const runs = [...(redirects?.loads ?? []), ...(flood ? [flood.load] : [])];
      const answered = runs.reduce((sum, run) => sum + run.answered, 0);
      const { appended } = await side.progress();
      const documents = clicksInDocuments(folder);
      const failed = runs.reduce((sum, { other, errors }) => sum + other + errors, 0);
      report.line(
        `answered ${answered}, otherwise or not at all ${failed}, in the log ${appended},` +
          ` in documents ${documents}`,
      );
      const passed = failed === 0 && appended === answered && documents === answered;
      return { passed, redirects, flood, recount };
    } finally {
      await Promise.all([bare.stop(), side.stop()]);
      await servers.stop();
    }
  });
}

async function measureRedirects(clicks: Clicks, options: Options): Promise<Redirects> {
  const { load, bare, side, traffic, report } = clicks;
  const { rounds: amount = 3, seconds = 6 } = options;
  const names = { bare: "bare Fastify 301", service: "bare recorder" };
  const loading = { traffic, seconds, rounds: amount };
  const { compared, loads } = await measureRounds(load, { bare, service: side, names }, loading, report);
  const rate = Math.round(compared.rate.service / 2);
  const half = options.half ? await measureHalfLoad(clicks, { rate, seconds, rounds: amount }) : undefined;
  return { ...compared, half, loads: [...loads, ...(half?.loads ?? [])] };
}

/** As `npm run bench fold` measures it: at full rate; `cameIn` and `counted` in clicks/s meanwhile. */
async function measureFlood({ load, side, traffic, report }: Clicks, seconds: number) {
  const before = await side.progress();
  const run = () => load.run({ url: side.url, traffic, seconds });
  const [result, rssMb] = await sampleMemory(side.pid, run);
  const after = await side.progress();
  const counted = (after.counted - before.counted) / result.seconds;
  const completeAfterS = await side.settle();
  const mostMb = Math.max(...rssMb);
  report.line(
    `flood of ${result.seconds.toFixed(0)} s: ${whole(result.rate)} clicks/s came in, ${whole(counted)} were counted` +
      ` meanwhile; complete ${completeAfterS.toFixed(1)} s after its end; at most ${whole(mostMb)} MB`,
  );
  return { cameIn: result.rate, counted, completeAfterS, mostMb, load: result };
}

function clicksInDocuments(folder: string): number {
  const counts = openBareCounts(folder, { kept: 0 });
  try {
    return counts.counted();
  } finally {
    counts.close();
  }
}
