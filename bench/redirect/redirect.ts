// `npm run bench redirect`: the recording service beside a bare Fastify 301, led by the CPU time of all threads until every
// click is folded.
import { join } from "node:path";
import { startChild } from "../load/child.ts";
import { CONNECTIONS, startLoad } from "../load/load.ts";
import { databaseBytes } from "../measure/database-bytes.ts";
import { reckon } from "../measure/reckon.ts";
import { secondsToCatchUp } from "../measure/reconcile.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { type BenchService, withService } from "../setup/bench-service.ts";
import { LINKS, type Traffic } from "../traffic/requests.ts";
import { compare, comparisonTable, type Round, roundLine } from "./compare.ts";
import { measureSide, type Side } from "./measure-side.ts";

const WARM_UP_S = 2;

/** Passes when every answered redirect is in the log and in the totals exactly once. */
export async function benchRedirect(options: Options, report: Report): Promise<Outcome> {
  const { links = LINKS, durable } = options;
  const environment = { CLICK_DURABILITY: durable ? "durable" : "batched" };
  return await withService(options, { links, environment }, (bench) => run(options, bench, report));
}

async function run(options: Options, bench: BenchService, report: Report): Promise<Outcome> {
  const { links = LINKS, draw = "zipf", rounds: amount = 3, seconds = 6 } = options;
  const { backend, config } = bench;
  report.line(
    `${CONNECTIONS} connections, ${whole(links)} links (${draw}), CLICK_DURABILITY=${config.clickDurability}`,
  );
  const versions = await backend.eventStore.versions?.();
  if (versions) report.line(`event store: server ${versions.server}, ${versions.client}`);
  const traffic: Traffic = { kind: "visits", links, draw };
  const [bareHttp, bareFastify] = [
    startChild("baselines/bare-http.ts"),
    startChild("baselines/bare-fastify.ts"),
  ];
  const load = startLoad();
  try {
    const sideOf = async (child: typeof bareHttp): Promise<Side> => ({
      ...(await child.answer<{ url: string }>()),
      pid: child.pid,
    });
    const [http, bare] = [await sideOf(bareHttp), await sideOf(bareFastify)];
    const service: Side = { url: bench.service.url, pid: bench.pid, settle: () => secondsToCatchUp(backend) };
    const measure = (side: Side, forS = seconds) => measureSide(load, side, { traffic, seconds: forS });
    // Alternates, so that other load of the machine affects both alike. A round ends when its clicks are folded.
    const round = async (forS?: number): Promise<Round> => ({
      bare: await measure(bare, forS),
      service: await measure(service, forS),
    });
    const warmUp = await round(WARM_UP_S);
    const bytesBefore = config.eventStoreUrl ? 0 : databaseBytes(join(bench.dataDir, "events.db"));
    const rounds: Round[] = [];
    while (rounds.length < amount) {
      rounds.push(await round());
      report.line(roundLine(rounds.length, rounds.at(-1) as Round));
    }
    const floor = await measure(http, Math.min(seconds, WARM_UP_S));
    const compared = compare(rounds);
    report.line("");
    report.table(comparisonTable(compared, { bare: "bare Fastify 301", service: "service, folded" }));
    report.line(`bare node:http: ${floor.cpu.all.toFixed(1)} µs of CPU a request, ${whole(floor.rate)}/s`);
    report.line(
      `analytics complete at most ${compared.completeAfterS.toFixed(1)} s after the last answer of a round`,
    );
    const runs = rounds.map((one) => one.service);
    const clicks = runs.reduce((sum, { answered }) => sum + answered, 0);
    const bytesAClick = config.eventStoreUrl
      ? undefined
      : (databaseBytes(join(bench.dataDir, "events.db")) - bytesBefore) / clicks;
    if (bytesAClick !== undefined) report.line(`${Math.round(bytesAClick)} bytes of events.db a click`);
    const reckoned = await reckon(backend, [warmUp.service, ...runs], report);
    return {
      passed: reckoned.passed,
      measured: { ...compared, nodeHttpCpu: floor.cpu.all, bytesAClick, reckoned },
    };
  } finally {
    await Promise.all([load.stop(), bareHttp.stop(), bareFastify.stop()]);
  }
}
