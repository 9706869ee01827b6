// Messages between the webhooks thread and its parent, besides log lines.
import type { Config } from "../config/config.ts";
import type { Counted } from "./delivery/worker-counts.ts";
import type { QueueStats } from "./queue/queue.ts";

export type WebhooksStatus = {
  counted: Counted;
  /** When the thread read the status, milliseconds since 1970. */
  readAt: number;
  queue: QueueStats;
  /** Deliveries being sent, and receivers that rest because they keep failing. */
  inFlight: number;
  resting: number;
  /** Age of the oldest account or click event that is not routed yet; undefined while it can't be read. */
  routerLagMs: number | undefined;
  /** Why nothing is routed; undefined while the router works, or has nothing to do. */
  routerFailure: string | undefined;
  /** Why due deliveries can't be claimed; undefined while they can. */
  claimFailure: string | undefined;
};

export type WebhooksThreadData = { config: Config };

/** `settleMs`: how long deliveries in flight may take; then they are returned to the queue and sent again. */
export type ToWebhooks = { type: "status" } | { type: "stop"; settleMs: number };

/** `status`: undefined while it can't be read. `leaseProblem`: as WatchedLeases tells it. */
export type FromWebhooks = {
  type: "status";
  status: WebhooksStatus | undefined;
  leaseProblem: string | undefined;
};
