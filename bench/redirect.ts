// `npm run bench redirect`: compares the recording service with a bare 301, and checks that every click is in the log.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import type { Scheme } from "../test/support/event-store/eventstoredb-double/double.ts";
import { type Environment, instanceOf, startService } from "../test/support/service/service-process.ts";
import { startChild } from "./child.ts";
import { withDataFolder } from "./data-folder.ts";
import { CONNECTIONS, type LoadResult, startLoad } from "./load.ts";
import { clicksInLog, clicksInTotals, secondsToCatchUp } from "./reconcile.ts";
import { comparison, type Round, ratio, roundLine } from "./redirect-report.ts";
import { machineLine, printTable } from "./report.ts";
import { seedLinks } from "./seed-links.ts";
import { benchServers } from "./servers.ts";
import { cpuLine, threadCpu } from "./thread-cpu.ts";
import { LINKS } from "./traffic/requests.ts";

export type RedirectOptions = {
  durable: boolean;
  markdown: boolean;
  rounds: number;
  seconds: number;
  /** Folder for V8 CPU profiles of the service's threads. */
  profile?: string | undefined;
  /** The event store's client to run on its double, instead of EVENTSTORE_URL. */
  double?: Scheme | undefined;
};

const WARM_UP_REQUESTS = 30_000;

/** True when every answered redirect is in the log and in the totals exactly once. */
export async function benchRedirect(options: RedirectOptions): Promise<boolean> {
  const servers = await benchServers(options.double);
  try {
    return await withDataFolder((dataDir) => run(options, dataDir, servers.environment));
  } finally {
    await servers.stop();
  }
}

async function run(options: RedirectOptions, dataDir: string, servers: Environment): Promise<boolean> {
  const durability = options.durable ? "durable" : "batched";
  const instance = await instanceOf(dataDir, { CLICK_DURABILITY: durability, ...servers });
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  await backend.prepare();
  await seedLinks(backend, config.baseUrl);
  const profiling = options.profile ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`] : [];
  const service = await startService(instance, profiling);
  const bare = startChild("./bare-server.ts");
  const load = startLoad();
  try {
    const { url: bareUrl } = await bare.answer<{ url: string }>();
    const redirects = (url: string, amount: number) => load.run({ url, amount });
    console.log(
      `${machineLine()}\n${CONNECTIONS} connections, ${LINKS} links, CLICK_DURABILITY=${config.clickDurability}`,
    );
    const versions = await backend.eventStore.versions?.();
    if (versions) console.log(`event store: server ${versions.server}, ${versions.client}`);
    const warm = {
      bare: await redirects(bareUrl, WARM_UP_REQUESTS),
      service: await redirects(service.url, WARM_UP_REQUESTS),
    };
    // Folding the warm-up's clicks would count as a cost of the measured ones.
    await secondsToCatchUp(backend);
    const cpuBefore = threadCpu(service.child.pid ?? 0);
    const catchUps: number[] = [];
    const catchUp = async () => void catchUps.push(await secondsToCatchUp(backend));
    const rounds = await alternate(options, { redirects, catchUp }, [bareUrl, service.url], warm);
    const cpuAfter = threadCpu(service.child.pid ?? 0);
    const seconds = Math.max(...catchUps);
    console.log("");
    printTable(comparison(rounds), options);
    console.log(`ratio of the medians: ${ratio(rounds).toFixed(2)}`);
    console.log(`analytics complete at most ${seconds.toFixed(1)} s after the last answer of a round`);
    const runs = rounds.map((round) => round.service);
    const answered = runs.reduce((sum, run) => sum + run.answered, 0);
    console.log(cpuLine(cpuBefore, cpuAfter, answered));
    if (!config.eventStoreUrl) {
      const bytes = (await stat(join(dataDir, "events.db"))).size;
      console.log(`${Math.round(bytes / (answered + warm.service.answered))} bytes of events.db a click`);
    }
    const recorded = { log: await clicksInLog(backend), totals: await clicksInTotals(backend) };
    return reconciled([warm.service, ...runs], recorded);
  } finally {
    await Promise.all([load.stop(), bare.stop(), service.stop()]);
    await backend.close();
  }
}

/**
 * Alternates between both sides, so that other load of the machine affects them alike. Each round has a fixed amount, so
 * that the number of answers is exact. `catchUp`: waits until the service has folded the clicks so far, which would slow
 * down the bare server's round.
 */
async function alternate(
  options: RedirectOptions,
  {
    redirects,
    catchUp,
  }: { redirects: (url: string, amount: number) => Promise<LoadResult>; catchUp: () => Promise<void> },
  [bareUrl, serviceUrl]: [string, string],
  warm: Round,
): Promise<Round[]> {
  const rounds: Round[] = [];
  let last: Round = warm;
  while (rounds.length < options.rounds) {
    await catchUp();
    const bare = await redirects(bareUrl, Math.round(last.bare.rate * options.seconds));
    const service = await redirects(serviceUrl, Math.round(last.service.rate * options.seconds));
    last = { bare, service };
    rounds.push(last);
    console.log(roundLine(rounds.length, last));
  }
  await catchUp();
  return rounds;
}

function reconciled(runs: readonly LoadResult[], recorded: { log: number; totals: number }): boolean {
  const answered = runs.reduce((sum, { answered: redirects }) => sum + redirects, 0);
  const failures = runs.reduce((sum, { other, errors }) => sum + other + errors, 0);
  const line = `answered ${answered}, in the log ${recorded.log}, in totals ${recorded.totals}`;
  if (failures === 0 && answered === recorded.log && answered === recorded.totals) {
    console.log(`${line}: nothing lost, nothing doubled`);
    return true;
  }
  console.log(`${line}, answered otherwise or not at all ${failures}: MISMATCH`);
  return false;
}
