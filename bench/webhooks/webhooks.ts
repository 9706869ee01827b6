// `npm run bench webhooks`: deliveries a second after a burst of clicks, and their delay at a steady rate.
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { addWebhook } from "../../src/commands/webhooks/change-webhooks.ts";
import { CLICK_KINDS, INTERFACE_LIMITS } from "../../src/events/vocabulary.ts";
import { receiverUrl } from "../../src/webhooks/receiver/receiver-url.ts";
import { startChild } from "../load/child.ts";
import type { LoadOrder } from "../load/load.ts";
import { cpuSeconds } from "../measure/process-usage.ts";
import type { Options } from "../options.ts";
import { printTable, whole } from "../report.ts";
import { type Prepared, withService } from "../setup/bench-service.ts";
import { BENCH } from "../setup/seed.ts";
import type { Received, ReceiverOrder } from "./receiver.ts";

const LINKS = 100;
/** Clicks a second of the steady phase. */
const RATE = 50;
const TIMEOUT_MS = 120_000;
/** Bounds a phase; it ends with its amount of clicks. */
const LONGEST_S = 300;

/** Passes when every click reached every webhook once. The first clicks, the burst, are sent as fast as possible. */
export async function benchWebhooks({ quick, ...options }: Options): Promise<boolean> {
  const { seconds = quick ? 2 : 8 } = options;
  const receiver = startChild("webhooks/receiver.ts");
  const { port } = await receiver.answer<{ port: number }>();
  const environment = { WEBHOOK_ALLOW_PRIVATE: "true" };
  const seed = (prepared: Prepared) => addWebhooks(prepared, port);
  try {
    return await withService({ links: LINKS, environment, seed }, async ({ service, pid, load }) => {
      const phase = async (name: string, order: Pick<LoadOrder, "amount" | "rate">) => {
        const before = cpuSeconds(pid);
        const traffic = { kind: "visits" as const, links: LINKS };
        const run = await load.run({ url: service.url, traffic, seconds: LONGEST_S, ...order });
        const expected = run.answered * INTERFACE_LIMITS.webhooks;
        const until: ReceiverOrder = { count: expected, timeoutMs: TIMEOUT_MS };
        const received = await receiver.request<Received>(until);
        const cpu = ((cpuSeconds(pid) - before) * 1e6) / received.count;
        const { count, repeated, tookMs, p50, p99 } = received;
        const figures = [run.answered, count, (count / tookMs) * 1_000, cpu, p50, p99].map(whole);
        return { passed: count === expected && repeated === 0, row: [name, ...figures] };
      };
      const phases = [
        await phase("warm-up", { amount: quick ? 50 : 500 }),
        await phase("burst", { amount: quick ? 200 : 2_000 }),
        await phase(`steady, ${RATE} clicks/s`, { amount: RATE * seconds, rate: RATE }),
      ];
      const head = ["", "clicks", "deliveries", "deliveries/s", "µs of CPU each", "p50 ms", "p99 ms"];
      printTable([head, ...phases.map(({ row }) => row)]);
      console.log("milliseconds from a click to its arrival at the receiver");
      return phases.every(({ passed }) => passed);
    });
  } finally {
    await receiver.stop();
  }
}

async function addWebhooks({ backend, config, accountId }: Prepared, port: number): Promise<void> {
  const accepted = (text: string) => receiverUrl(text, { allowPrivate: true });
  const { baseUrl, baseHost } = config;
  const deps = { ...runtimeDeps, ...backend, baseUrl, baseHost, receiverUrl: accepted };
  for (let n = 0; n < INTERFACE_LIMITS.webhooks; n++)
    await addWebhook(deps, BENCH, accountId, { url: `http://127.0.0.1:${port}/${n}`, kinds: CLICK_KINDS });
}
