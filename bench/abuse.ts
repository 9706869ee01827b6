// `npm run bench abuse`: latency of redirects at a steady rate, first alone, then while a Free account, a stalled browser
// and an anonymous client send as many expensive requests as they can.
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import { accountLinks } from "../src/projections/definitions/account-links.ts";
import { visitor } from "../test/support/portal/browser-like.ts";
import { instanceOf, runCommand, startService } from "../test/support/service/service-process.ts";
import { ABUSES, type Abuse, type AbuseCounts, type AbuseOrder } from "./abuses.ts";
import { startChild } from "./child.ts";
import { withDataFolder } from "./data-folder.ts";
import { CONNECTIONS, type LoadResult, startLoad } from "./load.ts";
import { untilCaughtUp } from "./reconcile.ts";
import { machineLine, printTable, whole } from "./report.ts";
import { sampleMemory } from "./resident-memory.ts";
import { seedLinksOf } from "./seed-links.ts";
import { LINKS } from "./traffic/requests.ts";

export type AbuseOptions = {
  seconds: number;
  /** Redirects a second in both phases. */
  rate: number;
  markdown: boolean;
  /** Kinds of abuse; all when absent. */
  only: string[] | undefined;
};

const WARM_UP_REQUESTS = 30_000;
const PASSWORD = "seven brown foxes";
/** Limit of the redirects' p99 under abuse over the one without (issue 11). */
const MAX_P99_RATIO = 3;
/** Of the most in the quiet phase: threads start that nobody needed before, and caches of bounded size fill. */
const MAX_MEMORY_RATIO = 2;
const MEMORY_EVERY_S = 5;

type Phase = { load: LoadResult; rssMb: number[] };

/** True when no redirect failed, and p99 and memory are within their limits. */
export async function benchAbuse(options: AbuseOptions): Promise<boolean> {
  return await withDataFolder((dataDir) => run(options, dataDir));
}

async function run(options: AbuseOptions, dataDir: string): Promise<boolean> {
  const kinds = ABUSES.filter((kind) => options.only?.includes(kind) ?? true);
  const instance = await instanceOf(dataDir);
  const service = await startService(instance);
  const load = startLoad();
  const abuser = startChild("./abuser-process.ts");
  try {
    const port = Number(instance.PORT);
    const free = await signUp(port, "free@example.com", "203.0.113.1");
    const watcher = await signUp(port, "watcher@example.com", "203.0.113.2");
    await runCommand(instance, "account", "tier", watcher.accountId, "developer");
    await seed(instance, { free: free.accountId, watcher: watcher.accountId });
    const { url, child } = service;
    const redirects = { url, amount: options.rate * options.seconds, rate: options.rate };
    const phase = async (): Promise<Phase> => {
      const [result, rssMb] = await sampleMemory(child.pid ?? 0, () => load.run(redirects));
      return { load: result, rssMb };
    };
    console.log(
      `${machineLine()}\n${whole(options.rate)} redirects/s on ${CONNECTIONS} connections, ${options.seconds} s a phase`,
    );
    await load.run({ url, amount: WARM_UP_REQUESTS });
    const quiet = await phase();
    const order: AbuseOrder = {
      port,
      kinds,
      seconds: options.seconds + 1,
      free: free.cookie,
      watcher: watcher.cookie,
    };
    const abusing = abuser.request<AbuseCounts>(order);
    const abused = await phase();
    const counts = await abusing;
    return judge(options, { quiet, abused }, counts);
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
  { rate, seconds, markdown }: AbuseOptions,
  phases: Record<"quiet" | "abused", Phase>,
  counts: AbuseCounts,
) {
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
  printTable([head, row("alone", quiet), row("under abuse", abused)], { markdown });
  console.log("");
  const kinds = Object.entries(counts) as [Abuse, Record<string, number>][];
  printTable([["abuse", "answers"], ...kinds.map(([kind, answers]) => [kind, answersLine(answers)])], {
    markdown,
  });
  const slower = abused.load.p99 / quiet.load.p99;
  const larger = Math.max(...abused.rssMb) / Math.max(...quiet.rssMb);
  const failed = [quiet, abused].some(({ load }) => load.answered !== rate * seconds || load.errors > 0);
  console.log(
    `\nmemory every ${MEMORY_EVERY_S} s under abuse: ${someOf(abused.rssMb)} MB\n` +
      `p99 ${slower.toFixed(2)} times that without abuse (at most ${MAX_P99_RATIO}), ` +
      `memory ${larger.toFixed(2)} times (at most ${MAX_MEMORY_RATIO}), ` +
      `${failed ? "REDIRECTS FAILED" : "no redirect failed"}`,
  );
  return !failed && slower <= MAX_P99_RATIO && !(larger > MAX_MEMORY_RATIO);
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
