// What a worker counts for the metrics, in a registry of its own: it runs in a thread, and what it counted crosses.
import { Counter, Histogram, Registry } from "prom-client";

/** As prom-client's AggregatorRegistry reads it. Plain JSON. */
export type Counted = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

export class WorkerCounts {
  readonly #registry = new Registry();
  readonly #attempts = new Counter({
    name: "linkledger_webhook_attempts_total",
    help: "Attempts by outcome: delivered, or what went wrong",
    labelNames: ["outcome"] as const,
    registers: [this.#registry],
  });
  readonly #lag = new Histogram({
    name: "linkledger_webhook_claim_lag_seconds",
    help: "How long after they were due deliveries were taken up",
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800],
    registers: [this.#registry],
  });

  /** `outcome`: `delivered`, or what went wrong. */
  attempted(outcome: string): void {
    this.#attempts.inc({ outcome });
  }

  /** `lateMs`: after it was due. */
  claimed(lateMs: number): void {
    this.#lag.observe(Math.max(0, lateMs) / 1000);
  }

  read(): Promise<Counted> {
    return this.#registry.getMetricsAsJSON();
  }
}
