// Webhooks for Prometheus: what the thread counted, taken over as it is.
import { Counter, Gauge, type Metric, type Registry } from "prom-client";
import type { WebhooksStatus } from "./webhooks-messages.ts";
import { LAG_BOUNDS } from "./worker-counts.ts";

type Ask = () => Promise<WebhooksStatus | undefined>;

/** Answers what to call before each scrape. */
export function webhookMetrics(ask: Ask, registry: Registry): () => Promise<void> {
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `linkledger_webhook_${name}`, help, registers });
  const attempts = new Counter({
    name: "linkledger_webhook_attempts_total",
    help: "Attempts by outcome: delivered, or what went wrong",
    labelNames: ["outcome"] as const,
    registers,
  });
  const pending = gauge("deliveries_pending", "Deliveries in the queue, due or waiting for their next try");
  const due = gauge(
    "deliveries_due",
    "Deliveries that should be under way, without those of paused webhooks",
  );
  const oldest = gauge("due_lag_seconds", "How long the oldest due delivery has been waiting");
  const underWay = gauge("deliveries_under_way", "Deliveries being sent");
  const circuits = gauge("circuits_open", "Receivers left alone for a while because they keep failing");
  const router = gauge("router_lag_milliseconds", "Age of the oldest event that is not routed yet");
  let last: WebhooksStatus | undefined;
  registry.registerMetric(claimLag(() => last?.lag) as unknown as Metric);
  return async () => {
    last = await ask();
    if (!last) return;
    attempts.reset();
    for (const [outcome, count] of Object.entries(last.attempts)) attempts.inc({ outcome }, count);
    const { oldestDueAt } = last.queue;
    pending.set(last.queue.pending);
    due.set(last.queue.due);
    oldest.set(oldestDueAt === null ? 0 : Math.max(0, last.askedAt - Date.parse(oldestDueAt)) / 1000);
    underWay.set(last.underWay);
    circuits.set(last.openCircuits);
    router.set(last.routerLagMs);
  };
}

/** prom-client can't take over counts that were made elsewhere, so this is its answer written by hand. */
function claimLag(read: () => WebhooksStatus["lag"] | undefined) {
  const name = "linkledger_webhook_claim_lag_seconds";
  const help = "How long after they were due deliveries were taken up";
  return {
    name,
    async get() {
      const { counts, sum, count } = read() ?? { counts: [], sum: 0, count: 0 };
      let upTo = 0;
      const buckets = counts.map((inBucket, index) => {
        upTo += inBucket;
        return { metricName: `${name}_bucket`, labels: { le: LAG_BOUNDS[index] ?? "+Inf" }, value: upTo };
      });
      const totals = [
        { metricName: `${name}_sum`, labels: {}, value: sum },
        { metricName: `${name}_count`, labels: {}, value: count },
      ];
      return { name, help, type: "histogram", aggregator: "sum", values: [...buckets, ...totals] };
    },
  };
}
