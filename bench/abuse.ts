// `npm run bench abuse`: redirects at a steady rate, first alone, then while a Free account, a stalled browser and an
// anonymous client do their worst. What one account or address can do must not be felt by everybody else.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import { accountLinks } from "../src/projections/definitions/account-links.ts";
import { visitor } from "../test/support/portal/browser-like.ts";
import { instanceOf, runCommand, startService } from "../test/support/service/service-process.ts";
import { ABUSES, type Abuse, type AbuseCounts, type AbuseOrder } from "./abuses.ts";
import { startChild } from "./child.ts";
import type { LoadOrder, LoadResult } from "./load-process.ts";
import { untilCaughtUp } from "./reconcile.ts";
import { machineLine, whole } from "./report.ts";
import { seedLinksOf } from "./seed-links.ts";
import { LINKS } from "./traffic/requests.ts";

export type AbuseOptions = {
  seconds: number;
  /** Redirects a second, before and meanwhile. */
  rate: number;
  markdown: boolean;
  /** Kinds of abuse; all without. */
  only: string[] | undefined;
};

const CONNECTIONS = 50;
const WARM_UP_REQUESTS = 30_000;
const PASSWORD = "seven brown foxes";
/** Issue 11: what the p99 of redirects may grow to. */
const MOST_P99_RATIO = 3;
/** Of the memory at the end of the quiet phase: caches of bounded size fill, nothing else grows. */
const MOST_MEMORY_RATIO = 1.5;
const MEMORY_EVERY_S = 5;

type Phase = { load: LoadResult; rssMb: number[] };

/** True when no redirect failed, their p99 and the memory stayed within bounds. */
export async function benchAbuse(options: AbuseOptions): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  try {
    return await run(options, dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function run(options: AbuseOptions, dataDir: string): Promise<boolean> {
  const kinds = ABUSES.filter((kind) => options.only?.includes(kind) ?? true);
  const instance = await instanceOf(dataDir);
  const service = await startService(instance);
  const load = startChild("./load-process.ts");
  const abuser = startChild("./abuser-process.ts");
  try {
    const port = Number(instance.PORT);
    const free = await signUp(port, "free@example.com", "203.0.113.1");
    const watcher = await signUp(port, "watcher@example.com", "203.0.113.2");
    await runCommand(instance, "account", "tier", watcher.accountId, "developer");
    await seed(instance, { free: free.accountId, watcher: watcher.accountId });
    const ask = (amount: number, rate?: number) =>
      load.ask<LoadResult>({
        url: service.url,
        connections: CONNECTIONS,
        amount,
        ...(rate ? { rate } : {}),
      } satisfies LoadOrder);
    const phase = async (): Promise<Phase> => {
      const rssMb: number[] = [];
      const sampling = setInterval(async () => rssMb.push(await residentMb(service.child.pid ?? 0)), 1_000);
      const result = await ask(options.rate * options.seconds, options.rate).finally(() =>
        clearInterval(sampling),
      );
      return { load: result, rssMb };
    };
    console.log(
      `${machineLine()}\n${whole(options.rate)} redirects/s on ${CONNECTIONS} connections, ${options.seconds} s a phase`,
    );
    await ask(WARM_UP_REQUESTS);
    const quiet = await phase();
    const order: AbuseOrder = {
      port,
      kinds,
      seconds: options.seconds + 1,
      free: free.cookie,
      watcher: watcher.cookie,
    };
    const abusing = abuser.ask<AbuseCounts>(order);
    const abused = await phase();
    const counts = await abusing;
    return judge(options, { quiet, abused }, counts);
  } finally {
    await Promise.all([load.stop(), abuser.stop(), service.stop()]);
  }
}

/** Through the form, as anybody could. */
async function signUp(port: number, email: string, address: string) {
  const browser = visitor(port, { address });
  await browser.submit("/portal/sign-up", { email, password: PASSWORD });
  const session = browser.cookies.get("linkledger-session");
  if (!session) throw new Error(`signing ${email} up failed`);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { accountId: session.split(".")[0] ?? "", cookie };
}

/** Searches and exports are at their worst where an account has many links; the watched links are the visited ones. */
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

/** NaN where there is no /proc. */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
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
  print([head, row("alone", quiet), row("under abuse", abused)], markdown);
  console.log("");
  const asked = Object.entries(counts) as [Abuse, Record<string, number>][];
  print([["abuse", "answers"], ...asked.map(([kind, answers]) => [kind, answersLine(answers)])], markdown);
  const slower = abused.load.p99 / quiet.load.p99;
  const larger = Math.max(...abused.rssMb) / Math.max(...quiet.rssMb);
  const failed = [quiet, abused].some(({ load }) => load.answered !== rate * seconds || load.errors > 0);
  console.log(
    `\nmemory every ${MEMORY_EVERY_S} s under abuse: ${everyTenth(abused.rssMb)} MB\n` +
      `p99 ${slower.toFixed(2)} times that without abuse (at most ${MOST_P99_RATIO}), ` +
      `memory ${larger.toFixed(2)} times (at most ${MOST_MEMORY_RATIO}), ` +
      `${failed ? "REDIRECTS FAILED" : "no redirect failed"}`,
  );
  return !failed && slower <= MOST_P99_RATIO && !(larger > MOST_MEMORY_RATIO);
}

/** Samples are a second apart. */
function everyTenth(rssMb: readonly number[]): string {
  return rssMb.flatMap((mb, n) => (n % MEMORY_EVERY_S === MEMORY_EVERY_S - 1 ? [whole(mb)] : [])).join(", ");
}

function answersLine(answers: Record<string, number>): string {
  return Object.entries(answers)
    .sort(([, a], [, b]) => b - a)
    .map(([status, times]) => `${whole(times)} x ${status}`)
    .join(", ");
}

function print(rows: readonly string[][], markdown: boolean): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const rule = (rows[0] ?? []).map((_, column) => (column === 0 ? "---" : "---:"));
  for (const [n, cells] of rows.entries()) {
    if (markdown) console.log(`| ${cells.join(" | ")} |`);
    else
      console.log(
        cells
          .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 3))
          .join("")
          .trimEnd(),
      );
    if (markdown && n === 0) console.log(`| ${rule.join(" | ")} |`);
  }
}
