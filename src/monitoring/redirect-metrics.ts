// Prometheus metrics of redirects and of what becomes of their clicks, from numbers that the hot path counts.
import { Counter, Gauge, type Registry } from "prom-client";
import type { RecorderStats } from "../redirect/clicks/click-recorder.ts";
import type { RedirectStats } from "../redirect/http/redirect-handler.ts";

export type CountedRedirects = {
  /** Both undefined without the redirect role. */
  redirects: () => RedirectStats | undefined;
  recorder: () => RecorderStats | undefined;
};

export function redirectMetrics(redirects: CountedRedirects["redirects"], registers: Registry[]): void {
  new Counter({
    name: "linkledger_redirects_total",
    help: "Requests for a short link, by outcome",
    labelNames: ["outcome"] as const,
    registers,
    collect() {
      this.reset();
      const { notFound = 0, ...others } = redirects() ?? {};
      const none = { found: 0, disabled: 0, blocked: 0, error: 0 };
      for (const [outcome, count] of Object.entries({ ...none, ...others, not_found: notFound }))
        this.inc({ outcome }, count);
    },
  });
}

export function recorderMetrics(recorder: CountedRedirects["recorder"], registers: Registry[]): void {
  const total = (name: string, help: string, value: (stats: RecorderStats) => number) =>
    new Counter({
      name: `linkledger_clicks_${name}_total`,
      help,
      registers,
      collect() {
        this.reset();
        const stats = recorder();
        if (stats) this.inc(value(stats));
      },
    });
  total("recorded", "Clicks received by the recorder", (stats) => stats.recorded);
  total(
    "committed",
    "Clicks that are in the event store or, on disk, in the spool",
    (stats) => stats.committed,
  );
  total("lost", "Clicks that could not be made into an event", (stats) => stats.lost);
  total("recorder_restarts", "Times the recorder thread was started again", (stats) => stats.threadRestarts);
  const gauge = (name: string, help: string, value: (stats: RecorderStats) => number) =>
    new Gauge({
      name: `linkledger_${name}`,
      help,
      registers,
      collect() {
        const stats = recorder();
        this.set(stats ? value(stats) : 0);
      },
    });
  gauge(
    "clicks_waiting",
    "Clicks received that are neither in the event store nor in the spool",
    (stats) => stats.backlog,
  );
  gauge("spool_clicks", "Clicks on disk that wait for the event store", ({ spool }) => spool?.clicks ?? 0);
  gauge(
    "spool_bytes",
    "Bytes of the clicks on disk that wait for the event store",
    ({ spool }) => spool?.bytes ?? 0,
  );
  gauge("spool_full", "1 when clicks wait in memory as the spool has no room", ({ spool }) =>
    Number(spool?.full ?? false),
  );
}
