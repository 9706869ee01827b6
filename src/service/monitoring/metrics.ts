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
import type { RecorderStatus } from "../../redirect/clicks/recorder.ts";
import type { RedirectStats } from "../../redirect/http/follow-link.ts";
import type { Observer, Seen } from "./observe.ts";
import { type GaugeRow, PARTS } from "./parts.ts";

export type MetricsDeps = {
  observer: Pick<Observer, "look" | "eventsBehind">;
  /** Undefined without the redirect role. */
  redirects: () => RedirectStats | undefined;
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
  if (deps.redirects()) redirectMetrics(deps.redirects, registry);
  if (deps.appendDuration) registry.registerMetric(deps.appendDuration);
  const updates = [
    ...PARTS.flatMap(({ gauges = [] }) => gauges.map((row) => gauge(row, registry))),
    ...recorderTotals(registry),
    foldedTotal(registry),
    webhookTotals(registry),
  ];
  const behind = gauge(BEHIND, registry);
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

type GaugeOf<T> = Omit<GaugeRow, "value"> & { value(seen: T): ReturnType<GaugeRow["value"]> };
type Update<T> = (seen: T) => void;

/** Registered with its first value: what this process has none of, it doesn't show. */
function gauge<T>(row: GaugeOf<T>, registry: Registry): Update<T> {
  const { name, help, aggregator = "sum", label, value } = row;
  let metric: Gauge | undefined;
  return (seen) => {
    const found = value(seen);
    if (found === undefined) return;
    const labelNames = label ? [label] : [];
    metric ??= new Gauge({ name: `linkledger_${name}`, help, aggregator, labelNames, registers: [registry] });
    if (typeof found === "number") metric.set(found);
    else if (label) for (const [of, number] of found) metric.set({ [label]: of }, number);
  };
}

const BEHIND = {
  name: "projection_behind_events",
  help: "Events not yet folded, counted up to 1,000",
  aggregator: "max",
  label: "projection",
  value: (events: readonly (readonly [string, number])[]) => events,
} as const satisfies GaugeOf<readonly (readonly [string, number])[]>;

function redirectMetrics(redirects: MetricsDeps["redirects"], registry: Registry): void {
  new Counter({
    name: "linkledger_redirects_total",
    help: "Requests for a short link, by outcome",
    labelNames: ["outcome"] as const,
    registers: [registry],
    collect() {
      this.reset();
      const { notFound = 0, ...others } = redirects() ?? {};
      const none = { found: 0, disabled: 0, blocked: 0, expired: 0, asked: 0, error: 0 };
      for (const [outcome, count] of Object.entries({ ...none, ...others, not_found: notFound }))
        this.inc({ outcome }, count);
    },
  });
}

const CLICK_TOTALS = {
  recorded: ["Clicks received by the recorder", (status) => status.recorded],
  committed: ["Clicks that are in the event store or, on disk, in the journal", (status) => status.committed],
  lost: ["Clicks that could not be made into an event", (status) => status.lost],
  not_recorded: [
    "Clicks of answered redirects for which there was no room while none could be stored",
    (status) => status.notRecorded.hits,
  ],
  writer_restarts: ["Times the writer thread had ended", (status) => status.writerRestarts],
} satisfies Record<string, [help: string, value: (status: RecorderStatus) => number]>;

/** `total`: nothing where it was not seen, and the last value stays. */
function counter(
  name: string,
  help: string,
  registry: Registry,
  total: (seen: Seen) => number | undefined,
): Update<Seen> {
  let metric: Counter | undefined;
  return (seen) => {
    const value = total(seen);
    if (value === undefined) return;
    metric ??= new Counter({ name: `linkledger_${name}_total`, help, registers: [registry] });
    metric.reset();
    metric.inc(value);
  };
}

function recorderTotals(registry: Registry): Update<Seen>[] {
  return Object.entries(CLICK_TOTALS).map(([name, [help, value]]) =>
    counter(`clicks_${name}`, help, registry, ({ recorder }) => recorder && value(recorder)),
  );
}

function foldedTotal(registry: Registry): Update<Seen> {
  const folded = new Counter({
    name: "linkledger_projection_folded_events_total",
    help: "Events folded since the projector started",
    labelNames: ["projection"] as const,
    registers: [registry],
  });
  return ({ projections }) => {
    if (typeof projections === "string") return;
    folded.reset();
    for (const { name, processed } of projections) folded.inc({ projection: name }, processed);
  };
}

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
