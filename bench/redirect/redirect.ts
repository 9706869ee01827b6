// `npm run bench redirect`: redirects, led by the CPU time of all threads until every click is folded and sealed.
import { join } from "node:path";
import { CONNECTIONS, type LoadResult, startLoad } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { databaseBytes } from "../measure/database-bytes.ts";
import { reckon } from "../measure/reckon.ts";
import { type Medians, measureRounds, mediansOf, mediansTable, type Server } from "../measure/rounds.ts";
import { untilSealed } from "../measure/sealed.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withService } from "../setup/bench-service.ts";
import { LINKS, type Traffic } from "../traffic/requests.ts";
import type { Bench } from "./bench.ts";
import { measureHalfLoad } from "./half-load.ts";
import { soak, withLoopProbe } from "./soak.ts";
import { measureUnknown } from "./unknown.ts";

/**
 * `half`: also p99 at half of the measured rate; `unknown`: also slugs that don't exist; `minutes`: instead, a long run at
 * a `share` of the maximum. Passes when every answered redirect is in the log and in the totals exactly once.
 */
export async function benchRedirect(options: Options, report: Report): Promise<Outcome> {
  const { links = LINKS, draw = "zipf", durable, minutes } = options;
  const environment = {
    CLICK_DURABILITY: durable ? "durable" : "batched",
    ...(minutes === undefined ? {} : await withLoopProbe()),
  };
  return await withService(options, { links, environment }, async (service) => {
    const { backend, config, pid } = service;
    const described = `${CONNECTIONS} connections, ${whole(links)} links (${draw})`;
    report.line(`${described}, CLICK_DURABILITY=${config.clickDurability}`);
    const load = startLoad();
    const settle = async () => {
      const completeAfterS = await secondsToCatchUp(backend);
      // Not part of those seconds, but of the round's CPU time: else it is spent in the next round.
      await untilSealed(backend);
      return completeAfterS;
    };
    const server: Server = { url: service.service.url, pid, settle };
    const traffic: Traffic = { kind: "visits", links, draw };
    const bench = { ...service, load, server, traffic, report };
    try {
      return minutes === undefined ? await run(options, bench) : await soak({ ...options, minutes }, bench);
    } finally {
      await load.stop();
    }
  });
}

async function run(options: Options, bench: Bench): Promise<Outcome> {
  const { rounds: amount = 3, seconds = 6 } = options;
  const { load, server, traffic, report } = bench;
  const bytesBefore = logBytes(bench);
  const loading = { traffic, seconds, rounds: amount };
  const { warmUp, rounds } = await measureRounds(load, server, loading, report.line);
  const medians = mediansOf(rounds);
  const clicks = [warmUp, ...rounds].reduce((sum, { answered }) => sum + answered, 0);
  const bytesAClick = bytesBefore === undefined ? undefined : ((logBytes(bench) ?? 0) - bytesBefore) / clicks;
  print(medians, bytesAClick, report);
  const halfRate = Math.round(medians.rate / 2);
  const half = options.half
    ? await measureHalfLoad(bench, { rate: halfRate, seconds, rounds: amount })
    : undefined;
  const unknown = options.unknown ? await measureUnknown(bench, seconds) : undefined;
  const runs: LoadResult[] = [warmUp, ...rounds, ...(half?.loads ?? [])];
  const reckoned = await reckon(bench.backend, runs, report);
  return {
    passed: reckoned.passed && (unknown?.passed ?? true),
    measured: { ...medians, bytesAClick, half, unknown, reckoned },
  };
}

/** Of the embedded store's file; undefined on a server. */
function logBytes({ config, dataDir }: Bench): number | undefined {
  return config.eventStoreUrl ? undefined : databaseBytes(join(dataDir, "events.db"));
}

function print(medians: Medians, bytesAClick: number | undefined, report: Report): void {
  report.line("");
  report.table(mediansTable(medians));
  const seconds = medians.completeAfterS.toFixed(1);
  report.line(`analytics complete at most ${seconds} s after the last answer of a round`);
  if (bytesAClick !== undefined) report.line(`${Math.round(bytesAClick)} bytes of events.db a click`);
}
