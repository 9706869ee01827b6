// `npm run bench abuse`: latency of redirects at a steady rate, first alone, then while a Free account, stalled
// event streams and an anonymous client send as many expensive requests as they can.
import { PASSWORD, visitor } from "../../test/support/portal/browser-like.ts";
import { runCommand } from "../../test/support/service/service-process.ts";
import { startChild } from "../load/child.ts";
import { LINKS } from "../load/requests.ts";
import { secondsToCatchUp } from "../measure/counted.ts";
import { peakMb } from "../measure/process-usage.ts";
import type { Options } from "../options.ts";
import { printTable, whole } from "../report.ts";
import { withService } from "../setup/bench-service.ts";
import { seedLinksOf } from "../setup/seed.ts";
import type { AbuseCounts, AbuseOrder } from "./abuser-process.ts";

/** Redirects a second in both phases. */
const RATE = 2_000;
const QUICK_RATE = 200;
const WARM_UP_S = 2;
/** Limit of the redirects' p99 under abuse over the one without. */
const MAX_P99_RATIO = 3;
/** Time in which requests that are late may still be sent, so that all are. */
const LATE_S = 60;

/** Passes when no redirect failed and, without --quick, p99 stays within its limit. */
export async function benchAbuse({ quick, ...options }: Options): Promise<boolean> {
  const { seconds = quick ? 2 : 30, links = quick ? 1_000 : LINKS } = options;
  const rate = quick ? QUICK_RATE : RATE;
  return await withService({ links: 0 }, async ({ backend, instance, config, service, pid, load }) => {
    const port = Number(instance.PORT);
    const free = await signUp(port, "free@example.com", "203.0.113.1");
    const watcher = await signUp(port, "watcher@example.com", "203.0.113.2");
    await runCommand(instance, "account", "tier", watcher.accountId, "developer");
    const { key } = await runCommand<{ key: string }>(
      instance,
      "key",
      "issue",
      "--account",
      watcher.accountId,
    );
    // Many links make the searches and exports of the Free account expensive.
    const slugOf = (link: number) => `f${link.toString().padStart(6, "0")}`;
    await seedLinksOf(backend, config.baseUrl, { accountId: free.accountId, links, slugOf });
    await seedLinksOf(backend, config.baseUrl, { accountId: watcher.accountId, links });
    await secondsToCatchUp(backend);
    const redirects = { url: service.url, traffic: { kind: "visits" as const, links } };
    await load.run({ ...redirects, seconds: WARM_UP_S });
    const phase = async () => {
      const amount = rate * seconds;
      const run = await load.run({ ...redirects, seconds: seconds + LATE_S, amount, rate });
      return { ...run, failed: amount - run.answered + run.errors, mostMb: peakMb(pid) };
    };
    const quiet = await phase();
    const order: AbuseOrder = { port, seconds: seconds + 1, free: free.cookie, watcher: key };
    const abuser = startChild("abuse/abuser-process.ts");
    const [abused, counts] = await Promise.all([phase(), abuser.request<AbuseCounts>(order)]);
    await abuser.stop();
    const row = (name: string, { rate, p50, p99, failed, mostMb }: typeof quiet) => [
      name,
      ...[whole(rate), p50.toFixed(1), p99.toFixed(1), whole(failed), whole(mostMb)],
    ];
    const head = ["", "redirects/s", "p50 ms", "p99 ms", "failed", "most MB"];
    printTable([head, row("alone", quiet), row("under abuse", abused)]);
    console.log("");
    printTable([["abuse", "answers"], ...Object.entries(counts).map(([kind, of]) => [kind, answers(of)])]);
    const slower = abused.p99 / quiet.p99;
    console.log(`p99 ${slower.toFixed(1)} times that without abuse, at most ${MAX_P99_RATIO}`);
    return quiet.failed + abused.failed === 0 && (quick || slower <= MAX_P99_RATIO);
  });
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

function answers(counts: Record<string, number>): string {
  const byNumber = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return byNumber.map(([answer, times]) => `${whole(times)} x ${answer}`).join(", ");
}
