// What a worker has sent, for metrics.
import { Counter, Histogram, Registry } from "prom-client";

/** Plain JSON in the format of prom-client's AggregatorRegistry. */
export type Counted = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** In a registry of their own, because the worker runs in a thread and sends them as JSON. */
export class WorkerCounts {
  readonly #registry = new Registry();
  readonly #attempts = new Counter({
    name: "linkledger_webhook_attempts_total",
    help: "Delivery attempts by outcome: delivered, or the error code",
    labelNames: ["outcome"] as const,
    registers: [this.#registry],
  });
  readonly #lag = new Histogram({
    name: "linkledger_webhook_claim_lag_seconds",
    help: "Time from a delivery being due to a worker claiming it",
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800],
    registers: [this.#registry],
  });

  /** `outcome`: `delivered`, or the error code. */
  attempted(outcome: string): void {
    this.#attempts.inc({ outcome });
  }

  /** `lateMs`: time since the delivery was due. */
  claimed(lateMs: number): void {
    this.#lag.observe(Math.max(0, lateMs) / 1000);
  }

  read(): Promise<Counted> {
    return this.#registry.getMetricsAsJSON();
  }
}
