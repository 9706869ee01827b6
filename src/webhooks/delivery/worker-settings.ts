// Limits and intervals of a delivery worker; tests and benchmarks override them.
import { REST_SETTINGS, type RestSettings } from "./failing-receivers.ts";
import { TRY_DELAYS_MS } from "./schedule.ts";

export type WorkerSettings = {
  /** Most deliveries in flight: in total, and per webhook. */
  total: number;
  perWebhook: number;
  /** Duration of a claim, after which another worker may take the delivery; longer than any attempt. */
  claimMs: number;
  /** Interval of polls for due deliveries; the router of this process wakes the worker for those that it queues. */
  pollMs: number;
  /** How long a stop waits for deliveries in flight. */
  stopMs: number;
  delaysMs: readonly number[];
  rest: RestSettings;
};

export const WORKER_SETTINGS: WorkerSettings = {
  total: 512,
  perWebhook: 8,
  claimMs: 30_000,
  pollMs: 2_000,
  stopMs: 5_000,
  delaysMs: TRY_DELAYS_MS,
  rest: REST_SETTINGS,
};
