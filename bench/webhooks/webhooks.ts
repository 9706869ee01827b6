// `npm run bench webhooks`: throughput of deliveries after a burst of clicks, and their lag at a steady rate.
import { type Backend, openBackend } from "../../src/backend.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { addWebhook } from "../../src/commands/webhooks/webhooks.ts";
import { parseConfig } from "../../src/config.ts";
import { CLICK_KINDS, WEBHOOKS_PER_ACCOUNT } from "../../src/events/vocabulary.ts";
import { receiverUrl } from "../../src/webhooks/receiver/receiver-url.ts";
import { instanceOf, startService } from "../../test/support/service/service-process.ts";
import { startChild } from "../load/child.ts";
import { type LoadOrder, type LoadResult, startLoad } from "../load/load.ts";
import { cpuEach, cpuLine, threadCpu } from "../measure/thread-cpu.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { seedLinks } from "../setup/seed-links.ts";
import type { Traffic } from "../traffic/requests.ts";
import { boundOf, claimLags, totalOf } from "./claim-lag.ts";
import type { Received, ReceiverOrder } from "./webhook-receiver.ts";

type Phase = { load: LoadResult; received: Received; expected: number; claimedWithinS: number };

const LINKS = 100;
const TIMEOUT_MS = 120_000;
/** Bounds a phase; it ends with its amount of clicks. */
const LONGEST_S = 300;

/**
 * Passes when every recorded click reached every webhook. `burst`: clicks of the first phase, as fast as possible, each
 * delivered to every webhook of the account. `rate` and `seconds`: clicks a second of the steady phase, and its duration.
 */
export async function benchWebhooks(options: Options, report: Report): Promise<Outcome> {
  return await withDataFolder((dataDir) => run(options, dataDir, report));
}

async function run(options: Options, dataDir: string, report: Report): Promise<Outcome> {
  const { burst = 2000, rate = 50, seconds = 8 } = options;
  const instance = await instanceOf(dataDir, { WEBHOOK_ALLOW_PRIVATE: "true" });
  const { baseUrl, baseHost } = parseConfig(instance);
  const backend = await openBackend(parseConfig(instance), { offThread: false });
  const receiver = startChild("webhooks/webhook-receiver.ts");
  const { port } = await receiver.answer<{ port: number }>();
  const load = startLoad();
  const accountId = await seedLinks(backend, baseUrl, LINKS);
  await addWebhooks(backend, { baseUrl, baseHost }, accountId, port);
  const service = await startService(instance);
  try {
    const phase = async (order: Pick<LoadOrder, "amount" | "rate">): Promise<Phase> => {
      const before = await claimLags(service.url, 0);
      const traffic: Traffic = { kind: "visits", links: LINKS, draw: "even" };
      const result = await load.run({ url: service.url, traffic, seconds: LONGEST_S, ...order });
      const expected = result.answered * WEBHOOKS_PER_ACCOUNT;
      const until: ReceiverOrder = { count: expected, timeoutMs: TIMEOUT_MS };
      const received = await receiver.request<Received>(until);
      const after = await claimLags(service.url, totalOf(before) + received.count);
      const claimedWithinS = boundOf(0.99, before, after);
      return { load: result, received, expected, claimedWithinS };
    };
    report.line(`${WEBHOOKS_PER_ACCOUNT} webhooks, one receiver process`);
    const warm = await phase({ amount: 500 });
    const cpuBefore = threadCpu(service.child.pid ?? 0);
    const rush = await phase({ amount: burst });
    report.line(`burst: ${line(rush)}`);
    const cpu = cpuEach(cpuBefore, threadCpu(service.child.pid ?? 0), rush.received.count);
    report.line(cpuLine(cpu, "delivery"));
    const steady = await phase({ amount: rate * seconds, rate });
    report.line(`steady, ${rate} clicks/s: ${line(steady)}`);
    const passed = [warm, rush, steady].every(({ received, expected }) => received.count === expected);
    return { passed, measured: { burst: rush, steady, cpu } };
  } finally {
    await Promise.all([load.stop(), receiver.stop(), service.stop()]);
    await backend.close();
  }
}

async function addWebhooks(
  backend: Backend,
  base: { baseUrl: string; baseHost: string },
  accountId: string,
  port: number,
): Promise<void> {
  const accepted = (text: string) => receiverUrl(text, { allowPrivate: true });
  const deps = { ...runtimeDeps, ...base, ...backend, receiverUrl: accepted };
  const context = { requestId: "bench", actor: { type: "operator" as const } };
  for (let n = 0; n < WEBHOOKS_PER_ACCOUNT; n++) {
    const url = `http://127.0.0.1:${port}/${n}`;
    await addWebhook(deps, context, accountId, { url, kinds: CLICK_KINDS });
  }
}

function line({ load, received, expected, claimedWithinS }: Phase): string {
  const perSecond = whole((received.count / received.tookMs) * 1000);
  return [
    `${whole(load.answered)} clicks in ${load.seconds.toFixed(1)} s`,
    `${whole(received.count)} of ${whole(expected)} deliveries, ${received.repeated} repeated`,
    `${perSecond} deliveries/s`,
    `due lag p99 at most ${claimedWithinS * 1000} ms`,
    `click to receiver p50 ${whole(received.p50)} ms, p99 ${whole(received.p99)} ms`,
  ].join("; ");
}
