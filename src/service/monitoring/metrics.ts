// The Prometheus metrics: one registry, filled at each scrape from plain numbers that the hot path counts.
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from "prom-client";
import { VERSION } from "../../config/version.ts";
import type { GroupStatus } from "../../projections/builds/status.ts";
import type { RecorderStatus } from "../../redirect/clicks/recorder.ts";
import type { RedirectStats } from "../../redirect/http/handler.ts";
import { inTime } from "../../runtime/pause.ts";
import type { LogHealth } from "../../stores/coordination/log-health.ts";
import type { SetAside } from "../../stores/read-store/set-aside.ts";
import { webhookMetrics } from "../../webhooks/webhook-metrics.ts";
import type { WebhooksStatus } from "../../webhooks/webhooks-status.ts";

export type MetricsDeps = {
  /** Undefined without the redirect role. */
  redirects: () => RedirectStats | undefined;
  /** Undefined without the redirect role. */
  recorder: (() => Promise<RecorderStatus>) | undefined;
  /** Of clicks; undefined without the redirect role. */
  appendDuration?: Metric | undefined;
  projections: () => Promise<GroupStatus[]>;
  /** What the router of webhooks has passed. */
  routerSetAside: () => Promise<SetAside>;
  /** Number of events that a group of projections has still to fold, at most 1,000. */
  eventsBehind: (status: GroupStatus) => Promise<number>;
  logProblems: LogHealth["problems"];
  /** Undefined when none is configured. */
  redis: { readonly unavailable: boolean } | undefined;
  /** Undefined without the webhooks role. */
  webhooks: (() => Promise<WebhooksStatus | undefined>) | undefined;
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

/** Well below Prometheus's default scrape timeout of ten seconds. */
const UPDATE_TIMEOUT_MS = 1_000;
/** How often the delay of the event loop is measured: at prom-client's 10 ms that alone costs a redirect 10 us. */
const EVENT_LOOP_EVERY_MS = 250;

const nothing = async () => undefined;

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
  const updateRecorder = bounded(deps.recorder ? recorderMetrics(deps.recorder, registry) : nothing);
  if (deps.appendDuration) registry.registerMetric(deps.appendDuration);
  storeMetrics(deps, registry);
  const updateProjections = bounded(projectionMetrics(deps, registry));
  const updateWebhooks = bounded(deps.webhooks ? webhookMetrics(deps.webhooks, registry) : nothing);
  const update = () => Promise.all([updateRecorder(), updateProjections(), updateWebhooks()]);
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

/**
 * Limits an update to one second and ignores its errors, so that a scrape shows the other metrics, and the last values of
 * this one, while a store is unavailable. An update that takes longer is not started a second time.
 */
function bounded(update: () => Promise<void>): () => Promise<void> {
  let updating: Promise<void> | undefined;
  return () => {
    updating ??= update()
      .catch(() => undefined)
      .finally(() => {
        updating = undefined;
      });
    return inTime(UPDATE_TIMEOUT_MS, updating);
  };
}

/** `aggregator`: of several processes. */
function gauge(
  registry: Registry,
  name: string,
  help: string,
  value: () => number,
  aggregator: "sum" | "max" | "min" = "sum",
): void {
  new Gauge({
    name: `linkledger_${name}`,
    help,
    aggregator,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}

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

/** Returns an update for before each scrape, as the journal is in another thread. */
function recorderMetrics(recorder: () => Promise<RecorderStatus>, registry: Registry) {
  let last: RecorderStatus | undefined;
  for (const [name, [help, value]] of Object.entries(CLICK_TOTALS))
    new Counter({
      name: `linkledger_clicks_${name}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        if (last) this.inc(value(last));
      },
    });
  const now = (name: string, help: string, value: (status: RecorderStatus) => number | undefined) =>
    gauge(registry, name, help, () => (last && value(last)) ?? 0);
  const isIn = "in the event store nor in the journal";
  now("clicks_waiting", `Clicks received that are neither ${isIn}`, (status) => status.waiting);
  now("clicks_unstored", `Of these, those whose redirects are answered`, (status) => status.unstored);
  now("journal_clicks", "Clicks on disk that wait for the event store", ({ journal }) => journal?.clicks);
  now(
    "journal_bytes",
    "Bytes of the clicks on disk that wait for the event store",
    ({ journal }) => journal?.bytes,
  );
  now("journal_full", "1 when clicks find no room in the journal", ({ journal }) =>
    Number(journal?.isFull ?? false),
  );
  return async () => {
    last = await recorder();
  };
}

function storeMetrics({ logProblems, redis }: MetricsDeps, registry: Registry): void {
  const failing = (use: "write" | "read", what: string) =>
    gauge(
      registry,
      `event_store_${use}_failing`,
      `1 while ${what}: /health/ready says why`,
      () => (logProblems()[use] ? 1 : 0),
      "max",
    );
  failing("write", "the last write to the log failed");
  failing("read", "a part of the log can't be read, which lasts until somebody acts");
  const help = "0 while Redis is unavailable: limits are counted per process";
  if (redis) gauge(registry, "redis_up", help, () => (redis.unavailable ? 0 : 1), "min");
}

/** Returns an update for before each scrape, as all gauges are set from one status of the projector. */
function projectionMetrics(
  deps: Pick<MetricsDeps, "projections" | "eventsBehind" | "routerSetAside">,
  registry: Registry,
) {
  const ofProjection = (name: string, help: string) =>
    new Gauge({
      name: `linkledger_projection_${name}`,
      help,
      labelNames: ["projection"] as const,
      // Each process reads the same from the stores; only the projector's own has folded events.
      aggregator: "max",
      registers: [registry],
    });
  const lag = ofProjection("lag_seconds", "Age of the oldest event not yet folded");
  const behind = ofProjection("behind_events", "Events not yet folded, counted up to 1,000");
  const folded = new Counter({
    name: "linkledger_projection_folded_events_total",
    help: "Events folded since the projector started",
    labelNames: ["projection"] as const,
    registers: [registry],
  });
  const setAside = ofProjection(
    "set_aside_events",
    "Events that could not be taken and were passed, until they are settled",
  );
  const waits = ofProjection("waits", "1 when the projection stands before an event of a newer program");
  return async () => {
    const statuses = await deps.projections();
    folded.reset();
    for (const status of statuses) {
      const labels = { projection: status.name };
      lag.set(labels, status.lagMs / 1_000);
      folded.inc(labels, status.processed);
      setAside.set(labels, status.setAside.count);
      waits.set(labels, status.waitsFor ? 1 : 0);
    }
    setAside.set({ projection: "webhooks-router" }, (await deps.routerSetAside()).count);
    for (const status of statuses) behind.set({ projection: status.name }, await deps.eventsBehind(status));
  };
}
