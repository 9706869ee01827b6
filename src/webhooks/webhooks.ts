// Starts and watches the webhooks thread.
import type { Config } from "../config.ts";
import { keepThread, type ThreadOptions } from "../runtime/threads/keep-thread.ts";
import type { FromWebhooks, ToWebhooks, WebhooksStatus, WebhooksThreadData } from "./webhooks-messages.ts";

/** Of the time for the stop: what was given back has to be written, and the stores closed. */
const SETTLED_AFTER = 0.7;

export type WebhooksThread = {
  /** Resolves when what was under way is settled and the thread is gone. */
  stop(withinMs: number): Promise<void>;
  /** Fresh from the thread; what it last told when it does not answer within a second; undefined before its first. */
  status(): Promise<WebhooksStatus | undefined>;
};

/** Runs until `stop`; a thread that dies is started again with backoff. */
export function startWebhooks(config: Config, log: ThreadOptions<FromWebhooks>["log"]): WebhooksThread {
  let last: WebhooksStatus | undefined;
  const thread = keepThread<FromWebhooks, ToWebhooks>({
    file: new URL("./webhooks-thread.ts", import.meta.url),
    name: "webhooks",
    data: { config } satisfies WebhooksThreadData,
    log,
    onMessage: ({ status }) => {
      last = status ?? last;
    },
  });
  return {
    stop: (withinMs) => thread.stop({ type: "stop", settleMs: withinMs * SETTLED_AFTER }, withinMs),
    async status() {
      await thread.request({ type: "status" });
      return last;
    },
  };
}
