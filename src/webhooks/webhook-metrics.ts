// Prometheus metrics of webhooks: gauges from the thread's status, and the worker's own metrics as they are.
import { AggregatorRegistry, Gauge, type Metric, type Registry } from "prom-client";
import type { WebhooksStatus } from "./webhooks-status.ts";

type ReadStatus = () => Promise<WebhooksStatus | undefined>;

/** Registers the metrics and returns the function that updates them before each scrape. */
export function webhookMetrics(readStatus: ReadStatus, registry: Registry): () => Promise<void> {
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `linkledger_webhook_${name}`, help, registers });
  const pending = gauge(
    "deliveries_pending",
    "Deliveries in the queue, due or waiting for their next attempt",
  );
  const due = gauge(
    "deliveries_due",
    "Due deliveries, without those of paused webhooks and resting receivers",
  );
  const oldest = gauge("due_lag_seconds", "Time since the oldest of these became due");
  const inFlight = gauge("deliveries_in_flight", "Deliveries being sent");
  const resting = gauge("receivers_resting", "Receivers that rest because they keep failing");
  const router = gauge("router_lag_seconds", "Age of the oldest event that is not routed yet");
  const routerFails = gauge("router_failing", "1 while the router can't go on: /health/ready says why");
  return async () => {
    const last = await readStatus();
    if (!last) return;
    for (const metric of AggregatorRegistry.aggregate([last.counted]).getMetricsAsArray()) {
      registry.removeSingleMetric(metric.name);
      registry.registerMetric(metric as unknown as Metric);
    }
    if (last.queue) {
      const { oldestDueAt } = last.queue;
      pending.set(last.queue.pending);
      due.set(last.queue.due);
      oldest.set(oldestDueAt === null ? 0 : Math.max(0, last.readAt - Date.parse(oldestDueAt)) / 1000);
    }
    inFlight.set(last.inFlight);
    resting.set(last.resting);
    if (last.routerLagMs !== undefined) router.set(last.routerLagMs / 1_000);
    routerFails.set(last.routerFailure === undefined ? 0 : 1);
  };
}
