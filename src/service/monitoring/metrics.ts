// The Prometheus metrics: one registry, filled at each scrape by one look at all parts and from plain numbers that the hot path
// counts.
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from "prom-client";
import { VERSION } from "../../config/version.ts";
import type { Observer, Seen } from "./observe.ts";
import { type MetricRow, PARTS } from "./parts.ts";

export type MetricsDeps = {
  observer: Pick<Observer, "look" | "eventsBehind">;
  /** Of clicks; undefined without the redirect role. */
  appendDuration?: Metric | undefined;
};

export type Metrics = {
  contentType: string;
  /** All metrics in Prometheus's text format. */
  text(): Promise<string>;
  /** The same for prom-client's aggregation over several processes. */
  json(): Promise<object[]>;
  /** Records one answered request; `route` is the pattern, so that the number of series is bounded. */
  requested(method: string, route: string, status: number, seconds: number): void;
};

/** How often the delay of the event loop is measured: at prom-client's 10 ms that alone costs a redirect 10 us. */
const EVENT_LOOP_EVERY_MS = 250;

export function createMetrics(deps: MetricsDeps): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_EVERY_MS });
  new Gauge({
    name: "linkledger_build_info",
    help: "1, with the version of the program",
    labelNames: ["version"] as const,
    aggregator: "max",
    registers: [registry],
  }).set({ version: VERSION }, 1);
  const duration = new Histogram({
    name: "linkledger_http_request_duration_seconds",
    help: "Time to answer, by route and status; redirects are counted apart",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  if (deps.appendDuration) registry.registerMetric(deps.appendDuration);
  const updates = [
    ...PARTS.flatMap(({ metrics = [] }) => metrics.map((row) => metricOf(row, registry))),
    webhookTotals(registry),
  ];
  const behind = metricOf(BEHIND, registry);
  const update = async () => {
    const [seen, events = []] = await Promise.all([deps.observer.look(), deps.observer.eventsBehind()]);
    for (const set of updates) set(seen);
    behind(events);
  };
  return {
    contentType: registry.contentType,
    async text() {
      await update();
      return registry.metrics();
    },
    async json() {
      await update();
      return registry.getMetricsAsJSON();
    },
    requested(method, route, status, seconds) {
      duration.observe({ method, route, status: String(status) }, seconds);
    },
  };
}

type Update<T> = (seen: T) => void;

/** Registered with its first value: what this process has none of, it doesn't show. */
function metricOf<T>(row: MetricRow<T>, registry: Registry): Update<T> {
  const { name, help, isCounter = false, aggregator = "sum", label, value } = row;
  let metric: Counter | Gauge | undefined;
  return (seen) => {
    const shown = value(seen);
    if (shown === undefined) return;
    const labelNames = label ? [label] : [];
    const options = { name: `linkledger_${name}`, help, aggregator, labelNames, registers: [registry] };
    metric ??= isCounter ? new Counter(options) : new Gauge(options);
    if (isCounter) metric.reset();
    for (const [of, number] of typeof shown === "number" ? [["", shown] as const] : shown) {
      const labels = label ? { [label]: of } : {};
      if (metric instanceof Gauge) metric.set(labels, number);
      else metric.inc(labels, number);
    }
  };
}

type EventsBehind = readonly (readonly [projection: string, events: number])[];

const BEHIND: MetricRow<EventsBehind> = {
  name: "projection_behind_events",
  help: "Events not yet folded, counted up to 1,000",
  aggregator: "max",
  label: "projection",
  value: (events) => events,
};

/** The worker's own metrics, as its thread has counted them. */
function webhookTotals(registry: Registry): Update<Seen> {
  return ({ webhooks }) => {
    if (!webhooks) return;
    for (const metric of AggregatorRegistry.aggregate([webhooks.counted]).getMetricsAsArray()) {
      registry.removeSingleMetric(metric.name);
      registry.registerMetric(metric as unknown as Metric);
    }
  };
}
