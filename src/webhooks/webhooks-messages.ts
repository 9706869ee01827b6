// What the webhooks thread and its parent say to each other, besides the log.
import type { Config } from "../config.ts";
import type { Counted } from "./delivery/worker-counts.ts";
import type { QueueStats } from "./queue/queue.ts";

export type WebhooksStatus = {
  counted: Counted;
  /** By the clock of the thread, in milliseconds. */
  askedAt: number;
  queue: QueueStats;
  /** Deliveries being sent just now, and receivers that are left alone for a while. */
  inFlight: number;
  openCircuits: number;
  /** Age of the oldest click or change that is not routed yet. */
  routerLagMs: number;
};

export type WebhooksThreadData = { config: Config };

/** `settleMs`: how long what is being sent may go on; then it is given back and sent again. */
export type ToWebhooks = { type: "status" } | { type: "stop"; settleMs: number };

export type FromWebhooks = { type: "status"; status: WebhooksStatus | undefined };
