// What a worker is sending, by webhook, so that one webhook cannot occupy all slots; and what it has sent, for metrics.
import { Counter, Histogram, Registry } from "prom-client";
import type { ClaimedDelivery } from "../queue/queue.ts";

export class InFlightDeliveries {
  readonly #attempts = new Map<ClaimedDelivery, Promise<void>>();
  readonly #perWebhook = new Map<string, number>();

  /** `attempt` must not reject. */
  add(claim: ClaimedDelivery, attempt: Promise<void>, onSettled: () => void): void {
    this.#perWebhook.set(claim.webhookId, this.of(claim.webhookId) + 1);
    const settled = attempt.finally(() => {
      this.#attempts.delete(claim);
      const remaining = this.of(claim.webhookId) - 1;
      if (remaining > 0) this.#perWebhook.set(claim.webhookId, remaining);
      else this.#perWebhook.delete(claim.webhookId);
      onSettled();
    });
    this.#attempts.set(claim, settled);
  }

  get size(): number {
    return this.#attempts.size;
  }

  of(webhookId: string): number {
    return this.#perWebhook.get(webhookId) ?? 0;
  }

  claims(): ClaimedDelivery[] {
    return [...this.#attempts.keys()];
  }

  /** Resolves when nothing is in flight. */
  async settled(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts.values());
  }
}

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
