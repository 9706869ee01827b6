// The Prometheus metrics: one registry, filled at each scrape from plain numbers that the hot path counts.
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from "prom-client";
import { VERSION } from "../config/version.ts";
import type { LogHealth } from "../coordination/log-health.ts";
import { ROUTER_CHECKPOINT } from "../coordination/router-checkpoint.ts";
import type { SetAside } from "../coordination/set-aside.ts";
import type { ProjectionStatus } from "../projections/runner/status.ts";
import { inTime } from "../runtime/pause.ts";
import { webhookMetrics } from "../webhooks/webhook-metrics.ts";
import type { WebhooksStatus } from "../webhooks/webhooks-messages.ts";
import { type CountedRedirects, recorderMetrics, redirectMetrics } from "./redirect-metrics.ts";

export type MetricsDeps = CountedRedirects & {
  /** Of clicks; undefined without the redirect role. */
  appendDuration?: Metric | undefined;
  projections: () => Promise<ProjectionStatus[]>;
  /** What the router of webhooks has passed. */
  routerSetAside: () => Promise<SetAside>;
  /** Number of events that each projection, by name, has still to fold, at most 1,000. */
  eventsBehind: (statuses: readonly ProjectionStatus[]) => Promise<ReadonlyMap<string, number>>;
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

export function createMetrics(deps: MetricsDeps): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  buildInfo(registers);
  const duration = new Histogram({
    name: "linkledger_http_request_duration_seconds",
    help: "Time to answer, by route and status; redirects are counted apart",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  if (deps.redirects()) redirectMetrics(deps.redirects, registers);
  if (deps.recorder()) recorderMetrics(deps.recorder, registers);
  if (deps.appendDuration) registry.registerMetric(deps.appendDuration);
  logMetrics(deps.logProblems, registers);
  if (deps.redis) redisMetrics(deps.redis, registers);
  const updateProjections = bounded(projectionMetrics(deps, registers));
  const updateWebhooks = bounded(
    deps.webhooks ? webhookMetrics(deps.webhooks, registry) : async () => undefined,
  );
  const update = () => Promise.all([updateProjections(), updateWebhooks()]);
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

function buildInfo(registers: Registry[]): void {
  new Gauge({
    name: "linkledger_build_info",
    help: "1, with the version of the program",
    labelNames: ["version"] as const,
    aggregator: "max",
    registers,
  }).set({ version: VERSION }, 1);
}

function logMetrics(problems: LogHealth["problems"], registers: Registry[]): void {
  for (const [use, what] of [
    ["write", "the last write to the log failed"],
    ["read", "a part of the log can't be read, which lasts until somebody acts"],
  ] as const)
    new Gauge({
      name: `linkledger_event_store_${use}_failing`,
      help: `1 while ${what}: /health/ready says why`,
      aggregator: "max",
      registers,
      collect() {
        this.set(problems()[use] ? 1 : 0);
      },
    });
}

function redisMetrics(redis: { readonly unavailable: boolean }, registers: Registry[]): void {
  new Gauge({
    name: "linkledger_redis_up",
    help: "0 while Redis is unavailable: limits are counted per process",
    aggregator: "min",
    registers,
    collect() {
      this.set(redis.unavailable ? 0 : 1);
    },
  });
}

/** Returns an update for before each scrape, as all gauges are set from one status of the projector. */
function projectionMetrics(
  deps: Pick<MetricsDeps, "projections" | "eventsBehind" | "routerSetAside">,
  registers: Registry[],
) {
  const gauge = (name: string, help: string) =>
    new Gauge({
      name: `linkledger_projection_${name}`,
      help,
      labelNames: ["projection"] as const,
      // Each process reads the same from the stores; only the projector's own has folded events.
      aggregator: "max",
      registers,
    });
  const lag = gauge("lag_seconds", "Age of the oldest event not yet folded");
  const behind = gauge("behind_events", "Events not yet folded, counted up to 1,000");
  const folded = new Counter({
    name: "linkledger_projection_folded_events_total",
    help: "Events folded since the projector started",
    labelNames: ["projection"] as const,
    registers,
  });
  const setAside = gauge(
    "set_aside_events",
    "Events that could not be taken and were passed, until they are settled",
  );
  const waits = gauge("waits", "1 when the projection stands before an event of a newer program");
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
    setAside.set({ projection: ROUTER_CHECKPOINT }, (await deps.routerSetAside()).count);
    for (const [projection, events] of await deps.eventsBehind(statuses)) behind.set({ projection }, events);
  };
}
