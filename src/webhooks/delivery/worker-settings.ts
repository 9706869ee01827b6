// The numbers a worker goes by; tests and benchmarks hand in their own.
import { CIRCUIT_SETTINGS, type CircuitSettings } from "../receiver/circuit.ts";
import { TRY_DELAYS_MS } from "./schedule.ts";

export type WorkerSettings = {
  /** Deliveries under way at once: in all, and to one webhook. */
  total: number;
  perWebhook: number;
  /** A dead worker's deliveries go to another after this long; longer than any try takes. */
  claimMs: number;
  /** Between looks for what became due, or what other processes queued. */
  pollMs: number;
  /** For what is under way at a stop. */
  stopMs: number;
  delaysMs: readonly number[];
  circuit: CircuitSettings;
};

export const WORKER_SETTINGS: WorkerSettings = {
  total: 512,
  perWebhook: 8,
  claimMs: 30_000,
  pollMs: 500,
  stopMs: 5_000,
  delaysMs: TRY_DELAYS_MS,
  circuit: CIRCUIT_SETTINGS,
};
