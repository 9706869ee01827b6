// `npm run bench redirect`: the recording service beside a bare Fastify 301, led by the CPU time of all threads until every
// click is folded and sealed.
import { join } from "node:path";
import { type Comparison, compare, comparisonTable, roundLine } from "../compare/comparison.ts";
import { alternate, type Loading, type Side, startBaseline } from "../compare/side.ts";
import { CONNECTIONS, type LoadResult, startLoad } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { databaseBytes } from "../measure/database-bytes.ts";
import { reckon } from "../measure/reckon.ts";
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
    const versions = await backend.eventStore.versions?.();
    if (versions) report.line(`event store: server ${versions.server}, ${versions.client}`);
    const load = startLoad();
    const bare = await startBaseline("baselines/bare-fastify.ts");
    const settle = async () => {
      const completeAfterS = await secondsToCatchUp(backend);
      // Not part of those seconds, but of the round's CPU time: else they take it from the bare server's next round.
      await untilSealed(backend);
      return completeAfterS;
    };
    const side: Side = { url: service.service.url, pid, settle };
    const traffic: Traffic = { kind: "visits", links, draw };
    const bench = { ...service, load, bare, side, traffic, report };
    try {
      return minutes === undefined ? await run(options, bench) : await soak({ ...options, minutes }, bench);
    } finally {
      await Promise.all([load.stop(), bare.stop()]);
    }
  });
}

async function run(options: Options, bench: Bench): Promise<Outcome> {
  const { rounds: amount = 3, seconds = 6 } = options;
  const { load, bare, side, traffic, report } = bench;
  const loading: Loading = { traffic, seconds };
  // A round too, as the service's threads are still being compiled and its caches filled for the first seconds.
  const warmUp = await alternate(load, { bare, service: side }, { ...loading, rounds: 1 });
  const bytesBefore = logBytes(bench);
  const rounds = await alternate(load, { bare, service: side }, { ...loading, rounds: amount }, (round, n) =>
    report.line(roundLine(n, round)),
  );
  const compared = compare(rounds);
  const clicks = rounds.reduce((sum, { service }) => sum + service.answered, 0);
  const bytesAClick = bytesBefore === undefined ? undefined : ((logBytes(bench) ?? 0) - bytesBefore) / clicks;
  print(compared, bytesAClick, report);
  const halfRate = Math.round(compared.rate.service / 2);
  const half = options.half
    ? await measureHalfLoad(bench, { rate: halfRate, seconds, rounds: amount })
    : undefined;
  const unknown = options.unknown ? await measureUnknown(bench, seconds) : undefined;
  const runs: LoadResult[] = [...warmUp, ...rounds].map(({ service }) => service);
  runs.push(...(half?.loads ?? []));
  const reckoned = await reckon(bench.backend, runs, report);
  return {
    passed: reckoned.passed && (unknown?.passed ?? true),
    measured: { ...compared, bytesAClick, half, unknown, reckoned },
  };
}

/** Of the embedded store's file; undefined on a server. */
function logBytes({ config, dataDir }: Bench): number | undefined {
  return config.eventStoreUrl ? undefined : databaseBytes(join(dataDir, "events.db"));
}

function print(compared: Comparison, bytesAClick: number | undefined, report: Report): void {
  report.line("");
  report.table(
    comparisonTable(compared, { bare: "bare Fastify 301", service: "service, folded and sealed" }),
  );
  const seconds = compared.completeAfterS.toFixed(1);
  report.line(`analytics complete at most ${seconds} s after the last answer of a round`);
  if (bytesAClick !== undefined) report.line(`${Math.round(bytesAClick)} bytes of events.db a click`);
}
