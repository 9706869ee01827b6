// Webhooks for Prometheus: what the thread counted, taken over as it is.
import { AggregatorRegistry, Gauge, type Metric, type Registry } from "prom-client";
import type { WebhooksStatus } from "./webhooks-messages.ts";

type Ask = () => Promise<WebhooksStatus | undefined>;

/** Answers what to call before each scrape. */
export function webhookMetrics(ask: Ask, registry: Registry): () => Promise<void> {
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `linkledger_webhook_${name}`, help, registers });
  const pending = gauge("deliveries_pending", "Deliveries in the queue, due or waiting for their next try");
  const due = gauge(
    "deliveries_due",
    "Deliveries that should be under way, without those of paused webhooks",
  );
  const oldest = gauge("due_lag_seconds", "How long the oldest due delivery has been waiting");
  const inFlight = gauge("deliveries_under_way", "Deliveries being sent");
  const circuits = gauge("circuits_open", "Receivers left alone for a while because they keep failing");
  const router = gauge("router_lag_milliseconds", "Age of the oldest event that is not routed yet");
  return async () => {
    const last = await ask();
    if (!last) return;
    for (const metric of AggregatorRegistry.aggregate([last.counted]).getMetricsAsArray()) {
      registry.removeSingleMetric(metric.name);
      registry.registerMetric(metric as unknown as Metric);
    }
    const { oldestDueAt } = last.queue;
    pending.set(last.queue.pending);
    due.set(last.queue.due);
    oldest.set(oldestDueAt === null ? 0 : Math.max(0, last.askedAt - Date.parse(oldestDueAt)) / 1000);
    inFlight.set(last.inFlight);
    circuits.set(last.openCircuits);
    router.set(last.routerLagMs);
  };
}
