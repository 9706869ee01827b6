// `npm run bench redirect`: the service with recording on beside a bare 301, and proof that no click was lost.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import { instanceOf, startService } from "../test/support/service/service-process.ts";
import { startChild } from "./child.ts";
import type { LoadOrder, LoadResult } from "./load-process.ts";
import { clicksInLog, clicksInTotals, secondsToCatchUp } from "./reconcile.ts";
import { machineLine, markdownTable, plainTable, type Round, ratio, roundLine } from "./report.ts";
import { seedLinks } from "./seed-links.ts";
import { cpuLine, threadCpu } from "./thread-cpu.ts";
import { LINKS } from "./traffic/requests.ts";

export type RedirectOptions = {
  durable: boolean;
  markdown: boolean;
  rounds: number;
  seconds: number;
  /** Folder for V8 CPU profiles of the service's threads. */
  profile?: string | undefined;
};

const CONNECTIONS = 50;
const WARM_UP_REQUESTS = 30_000;

/** True when every answered redirect is in the log and in the totals exactly once. */
export async function benchRedirect(options: RedirectOptions): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  try {
    return await run(options, dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function run(options: RedirectOptions, dataDir: string): Promise<boolean> {
  const instance = await instanceOf(dataDir, { CLICK_DURABILITY: options.durable ? "durable" : "batched" });
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  await seedLinks(backend, config.baseUrl);
  const profiling = options.profile ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`] : [];
  const service = await startService(instance, profiling);
  const bare = startChild("./bare-server.ts");
  const load = startChild("./load-process.ts");
  try {
    const { url: bareUrl } = await bare.answer<{ url: string }>();
    const ask = (url: string, amount: number) =>
      load.ask<LoadResult>({ url, amount, connections: CONNECTIONS } satisfies LoadOrder);
    console.log(
      `${machineLine()}\n${CONNECTIONS} connections, ${LINKS} links, CLICK_DURABILITY=${config.clickDurability}`,
    );
    const warm = {
      bare: await ask(bareUrl, WARM_UP_REQUESTS),
      service: await ask(service.url, WARM_UP_REQUESTS),
    };
    const cpuBefore = threadCpu(service.child.pid ?? 0);
    const catchUps: number[] = [];
    const rest = async () => void catchUps.push(await secondsToCatchUp(backend));
    const rounds = await alternate(options, { ask, rest }, [bareUrl, service.url], warm);
    const cpuAfter = threadCpu(service.child.pid ?? 0);
    const seconds = Math.max(...catchUps);
    console.log(`\n${options.markdown ? markdownTable(rounds) : plainTable(rounds)}`);
    console.log(`ratio of the medians: ${ratio(rounds).toFixed(2)}`);
    console.log(`analytics complete at most ${seconds.toFixed(1)} s after the last answer of a round`);
    const runs = rounds.map((round) => round.service);
    const answered = runs.reduce((sum, run) => sum + run.answered, 0);
    console.log(cpuLine(cpuBefore, cpuAfter, answered));
    const bytes = (await stat(join(dataDir, "events.db"))).size;
    console.log(`${Math.round(bytes / (answered + warm.service.answered))} bytes of events.db a click`);
    const recorded = { log: await clicksInLog(backend), totals: await clicksInTotals(backend) };
    return reconciled([warm.service, ...runs], recorded);
  } finally {
    await Promise.all([load.stop(), bare.stop(), service.stop()]);
    await backend.close();
  }
}

/**
 * A B A B ...: what the machine does meanwhile hits both sides alike. Fixed amounts make the count of answers exact.
 * `rest`: until the service has folded the clicks before, which would slow the bare server's round down.
 */
async function alternate(
  options: RedirectOptions,
  { ask, rest }: { ask: (url: string, amount: number) => Promise<LoadResult>; rest: () => Promise<void> },
  [bareUrl, serviceUrl]: [string, string],
  warm: Round,
): Promise<Round[]> {
  const rounds: Round[] = [];
  let last: Round = warm;
  while (rounds.length < options.rounds) {
    await rest();
    const bare = await ask(bareUrl, Math.round(last.bare.rate * options.seconds));
    const service = await ask(serviceUrl, Math.round(last.service.rate * options.seconds));
    last = { bare, service };
    rounds.push(last);
    console.log(roundLine(rounds.length, last));
  }
  await rest();
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
