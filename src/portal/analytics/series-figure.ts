// A time series as a static SVG chart and a table; chart.js replaces the SVG with an interactive chart.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { HitCounts } from "../../queries/analytics/hit-counts.ts";
import type { Point, TimeSeries } from "../../queries/analytics/time-series.ts";
import { count } from "../links/link-view.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";

export const KIND_NAMES: Readonly<Record<ClickKind, string>> = {
  click: "Clicks",
  qr_scan: "QR scans",
  preview: "Previews",
};

/** Stacking order from the bottom of each bar. */
const STACKED = ["click", "qr_scan", "preview"] as const satisfies readonly ClickKind[];
const HEIGHT = 100;
const DAY = { day: "numeric", month: "short", year: "numeric" } as const;
const MONTH = { month: "long", year: "numeric" } as const;
const UNIT_NAMES = { hour: "Hour", day: "Day", week: "Week of", month: "Month" } as const;

type Unit = keyof typeof UNIT_NAMES;

/** `zone`: in which the points are named; without it hours are shown in the visitor's zone, days and months by UTC. */
type ShownSeries = Pick<TimeSeries, "points"> & { unit: Unit; zone?: string };

/** `label`: accessible name of the chart. */
export function seriesFigure({ unit, points, zone }: ShownSeries, label: string): Html {
  const nameOf = pointNames(unit, zone);
  const note = zone ? `Times are those of ${zone}.` : unit === "hour" ? "" : "Days are UTC days.";
  return html`<figure class="chart" data-chart>
<div class="chart-keys">${STACKED.map((kind) => html`<span><i class="key key-${kind}"></i>${KIND_NAMES[kind]}</span>`)}${note ? html`<span class="muted small">${note}</span>` : ""}</div>
<div class="chart-canvas">${drawing(points, label)}</div>
<details class="as-table"><summary>Show as a table</summary>
<table class="table" data-unit="${unit}"><caption class="visually-hidden">${label}</caption>
<thead><tr><th scope="col">${UNIT_NAMES[unit]}</th>${STACKED.map((kind) => html`<th scope="col" class="end">${KIND_NAMES[kind]}</th>`)}<th scope="col" class="end">All</th></tr></thead>
<tbody>${points.map((point) => row(point, nameOf(point.start)))}</tbody></table></details>
</figure>`;
}

function pointNames(unit: Unit, zone: string | undefined): (start: string) => Html | string {
  if (unit === "hour" && zone === undefined) return time;
  const shown =
    unit === "hour" ? { ...DAY, hour: "numeric", minute: "2-digit" } : unit === "month" ? MONTH : DAY;
  const format = new Intl.DateTimeFormat("en", { ...(shown as typeof DAY), timeZone: zone ?? "UTC" });
  return (start) => format.format(new Date(start));
}

function row(point: Point, name: Html | string): Html {
  return html`<tr data-start="${point.start}"><th scope="row">${name}</th>
${STACKED.map((kind) => html`<td class="end number" data-kind="${kind}" data-label="${KIND_NAMES[kind]}">${count(point[kind])}</td>`)}
<td class="end number" data-kind="total" data-label="All">${count(point.total)}</td></tr>`;
}

function drawing(points: readonly Point[], label: string): Html {
  const highest = Math.max(1, ...points.map(({ total }) => total));
  const bars = points.map((point, index) => {
    let top = HEIGHT;
    return STACKED.map((kind) => {
      const height = (point[kind] / highest) * HEIGHT;
      top -= height;
      if (height === 0) return "";
      return html`<rect class="bar-${kind}" x="${index * 10 + 1.5}" width="7" y="${top.toFixed(2)}" height="${height.toFixed(2)}"/>`;
    });
  });
  return html`<svg viewBox="0 0 ${points.length * 10} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

/** Totals by kind; live.js increments the elements with `data-total`. */
export function kindStats(totals: HitCounts, what: string): Html {
  const stat = (kind: ClickKind | "total", name: string) =>
    html`<div class="card stat"><span class="stat-name">${name}</span><span class="stat-value" data-total="${kind}">${count(totals[kind])}</span></div>`;
  return html`<section class="grid stats" aria-label="${what}">${stat("total", "All hits")}${CLICK_KINDS.map((kind) => stat(kind, KIND_NAMES[kind]))}</section>`;
}
