// What the webhooks role tells about itself: for readiness and metrics.
import type { Counted } from "./delivery/worker-counts.ts";
import type { QueueStats } from "./queue/queue.ts";

export type WebhooksStatus = {
  counted: Counted;
  /** When the status was read, milliseconds since 1970. */
  readAt: number;
  /** Undefined while it can't be read. */
  queue: QueueStats | undefined;
  /** Deliveries being sent, and receivers that rest because they keep failing. */
  inFlight: number;
  resting: number;
  /** Age of the oldest account or click event that is not routed yet; undefined while it can't be read. */
  routerLagMs: number | undefined;
  /** Why nothing is routed; undefined while the router works, or has nothing to do. */
  routerFailure: string | undefined;
  /** Why the queue can't be read, or due deliveries not be claimed; undefined while they can. */
  claimFailure: string | undefined;
};
