// `npm run bench abuse`: latency of redirects at a steady rate, first alone, then while a Free account, a stalled browser
// and an anonymous client send as many expensive requests as they can.
import { openBackend } from "../../src/backend.ts";
import { parseConfig } from "../../src/config.ts";
import { accountLinks } from "../../src/projections/definitions/account-links.ts";
import { visitor } from "../../test/support/portal/browser-like.ts";
import { instanceOf, runCommand, startService } from "../../test/support/service/service-process.ts";
import { startChild } from "../load/child.ts";
import { CONNECTIONS, type LoadResult, startLoad } from "../load/load.ts";
import { untilCaughtUp } from "../measure/caught-up.ts";
import { sampleMemory } from "../measure/resident-memory.ts";
import { type Options, partsOf } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { seedLinksOf } from "../setup/seed-links.ts";
import { LINKS, type Traffic } from "../traffic/requests.ts";
import { ABUSES, type Abuse, type AbuseCounts, type AbuseOrder } from "./abuses.ts";

/** `rate`: redirects a second in both phases. */
type Phases = { seconds: number; rate: number };

const WARM_UP_S = 2;
const PASSWORD = "seven brown foxes";
/** Limit of the redirects' p99 under abuse over the one without. */
const MAX_P99_RATIO = 3;
/** Of the most in the quiet phase: threads start that nobody needed before, and caches of bounded size fill. */
const MAX_MEMORY_RATIO = 2;
const MEMORY_EVERY_S = 5;
/** Time in which requests that are late may still be sent, so that all are. */
const LATE_S = 60;

type Phase = { load: LoadResult; rssMb: number[] };

/** Passes when no redirect failed, and p99 and memory are within their limits. `only`: kinds of abuse; default all. */
export async function benchAbuse(options: Options, report: Report): Promise<Outcome> {
  return await withDataFolder((dataDir) => run(options, dataDir, report));
}

async function run(options: Options, dataDir: string, report: Report): Promise<Outcome> {
  const { seconds = 30, rate = 2000 } = options;
  const kinds = partsOf(options.only, ABUSES);
  const instance = await instanceOf(dataDir);
  const service = await startService(instance);
  const load = startLoad();
  const abuser = startChild("abuse/abuser-process.ts");
  try {
    const port = Number(instance.PORT);
    const free = await signUp(port, "free@example.com", "203.0.113.1");
    const watcher = await signUp(port, "watcher@example.com", "203.0.113.2");
    await runCommand(instance, "account", "tier", watcher.accountId, "developer");
    await seed(instance, { free: free.accountId, watcher: watcher.accountId });
    const { url, child } = service;
    const traffic: Traffic = { kind: "visits", links: LINKS, draw: "zipf" };
    const redirects = { url, traffic, seconds: seconds + LATE_S, amount: rate * seconds, rate };
    const phase = async (): Promise<Phase> => {
      const [result, rssMb] = await sampleMemory(child.pid ?? 0, () => load.run(redirects));
      return { load: result, rssMb };
    };
    report.line(`${whole(rate)} redirects/s on ${CONNECTIONS} connections, ${seconds} s a phase`);
    await load.run({ url, traffic, seconds: WARM_UP_S });
    const quiet = await phase();
    const order: AbuseOrder = {
      port,
      kinds,
      seconds: seconds + 1,
      free: free.cookie,
      watcher: watcher.cookie,
    };
    const abusing = abuser.request<AbuseCounts>(order);
    const abused = await phase();
    const counts = await abusing;
    return judge({ rate, seconds }, { quiet, abused }, counts, report);
  } finally {
    await Promise.all([load.stop(), abuser.stop(), service.stop()]);
  }
}

/** By the public sign-up form. */
async function signUp(port: number, email: string, address: string) {
  const browser = visitor(port, { address });
  await browser.submit("/portal/sign-up", { email, password: PASSWORD });
  const session = browser.cookies.get("linkledger-session");
  if (!session) throw new Error(`signing ${email} up failed`);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { accountId: session.split(".")[0] ?? "", cookie };
}

/** Many links for the Free account, which make its searches and exports expensive; the visited links for the watcher. */
async function seed(instance: Record<string, string>, { free, watcher }: { free: string; watcher: string }) {
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  try {
    await seedLinksOf(backend, config.baseUrl, { accountId: watcher, links: LINKS });
    const slugOf = (link: number) => `f${link.toString().padStart(6, "0")}`;
    await seedLinksOf(backend, config.baseUrl, { accountId: free, links: LINKS, slugOf });
    await untilCaughtUp(backend, [accountLinks]);
  } finally {
    await backend.close();
  }
}

function judge(
  { rate, seconds }: Phases,
  phases: Record<"quiet" | "abused", Phase>,
  counts: AbuseCounts,
  report: Report,
): Outcome {
  const { quiet, abused } = phases;
  const row = (name: string, { load, rssMb }: Phase) => [
    name,
    whole(load.rate),
    load.p50.toFixed(1),
    load.p99.toFixed(1),
    whole(load.other),
    whole(rate * seconds - load.answered - load.other),
    whole(rssMb.at(-1) ?? Number.NaN),
    whole(Math.max(...rssMb)),
  ];
  const head = ["", "redirects/s", "p50 ms", "p99 ms", "no 301", "no answer", "memory MB", "most MB"];
  report.table([head, row("alone", quiet), row("under abuse", abused)]);
  report.line("");
  const kinds = Object.entries(counts) as [Abuse, Record<string, number>][];
  report.table([["abuse", "answers"], ...kinds.map(([kind, answers]) => [kind, answersLine(answers)])]);
  const slower = abused.load.p99 / quiet.load.p99;
  const larger = Math.max(...abused.rssMb) / Math.max(...quiet.rssMb);
  const failed = [quiet, abused].some(({ load }) => load.answered !== rate * seconds || load.errors > 0);
  report.line(
    `\nmemory every ${MEMORY_EVERY_S} s under abuse: ${someOf(abused.rssMb)} MB\n` +
      `p99 ${slower.toFixed(2)} times that without abuse (at most ${MAX_P99_RATIO}), ` +
      `memory ${larger.toFixed(2)} times (at most ${MAX_MEMORY_RATIO}), ` +
      `${failed ? "REDIRECTS FAILED" : "no redirect failed"}`,
  );
  const passed = !failed && slower <= MAX_P99_RATIO && !(larger > MAX_MEMORY_RATIO);
  return { passed, measured: { p99Ratio: slower, memoryRatio: larger, quiet, abused, counts } };
}

/** One sample of every MEMORY_EVERY_S, as they are taken every second. */
function someOf(rssMb: readonly number[]): string {
  return rssMb.flatMap((mb, n) => (n % MEMORY_EVERY_S === MEMORY_EVERY_S - 1 ? [whole(mb)] : [])).join(", ");
}

function answersLine(answers: Record<string, number>): string {
  return Object.entries(answers)
    .sort(([, a], [, b]) => b - a)
    .map(([status, times]) => `${whole(times)} x ${status}`)
    .join(", ");
}
