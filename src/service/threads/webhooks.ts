// Starts the webhooks thread and restarts it when it crashes.
import type { Config } from "../../config/config.ts";
import { keepThread, type ThreadOptions } from "../../runtime/threads/keep-thread.ts";
import type {
  FromWebhooks,
  ToWebhooks,
  WebhooksStatus,
  WebhooksThreadData,
} from "../../webhooks/webhooks-messages.ts";

/** Share of the stop's time limit for deliveries in flight; after it, claims are returned and stores closed. */
const SETTLE_SHARE = 0.7;

export type WebhooksThread = {
  /** Resolves when the deliveries in flight are settled and the thread has ended. */
  stop(withinMs: number): Promise<void>;
  /** The thread's status; the last known one when it does not answer within half a second; undefined before the first. */
  status(): Promise<WebhooksStatus | undefined>;
  /** Which lease has had no answer for ten seconds, and why. */
  leaseProblem(): string | undefined;
};

/** Runs until `stop`; a thread that crashes is restarted with backoff. */
export function startWebhooks(config: Config, log: ThreadOptions<FromWebhooks>["log"]): WebhooksThread {
  let last: WebhooksStatus | undefined;
  let problem: string | undefined;
  const thread = keepThread<FromWebhooks, ToWebhooks>({
    file: new URL("./webhooks-thread.ts", import.meta.url),
    name: "webhooks",
    data: { config } satisfies WebhooksThreadData,
    log,
    onMessage: ({ status, leaseProblem }) => {
      last = status ?? last;
      problem = leaseProblem;
    },
  });
  return {
    stop: (withinMs) => thread.stop({ type: "stop", settleMs: withinMs * SETTLE_SHARE }, withinMs),
    async status() {
      await thread.request({ type: "status" });
      return last;
    },
    leaseProblem: () => problem,
  };
}
