// Clicks over time: their totals, and a series as an SVG chart with axes and as a table, from which chart.js reads.
import type { ClickKind } from "../../events/vocabulary.ts";
import type { Interval } from "../../queries/analytics/intervals.ts";
import type { HitCounts, SeriesPoint } from "../../queries/analytics/sums.ts";
import { count } from "../links/link-view.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { type Column, card, table } from "../shell/parts.ts";
import { live, type PageRange } from "./range-bar.ts";

export const KIND_NAMES: Readonly<Record<ClickKind, string>> = {
  click: "Link clicks",
  qr_scan: "QR scans",
  preview: "Previews",
};

/** From the bottom of each bar, and from the left of cards and tables. */
const ORDER = ["click", "qr_scan", "preview"] as const satisfies readonly ClickKind[];
const DAY = { day: "numeric", month: "short", year: "numeric" } as const;
const HOUR = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const UNITS = {
  hour: { name: "Hour", point: { ...DAY, ...HOUR }, axis: HOUR },
  day: { name: "Day", point: DAY, axis: { day: "numeric", month: "short" } },
  week: { name: "Week of", point: DAY, axis: { month: "short", year: "numeric" } },
  month: {
    name: "Month",
    point: { month: "long", year: "numeric" },
    axis: { month: "short", year: "numeric" },
  },
} as const satisfies Record<Interval, unknown>;
/** More hours than this are labelled by their days. */
const MOST_HOURS = 48;

/** Of the figure, in per cent of the drawing. */
const PLOT = { left: 9, top: 5, width: 91, height: 82 };
const X_LABELS = 6;
const Y_LABELS = 4;

type ShownSeries = { interval: Interval; series: readonly SeriesPoint[]; totals: HitCounts };

/** `of`: what the numbers are of, for screen readers. */
export function seriesCard(range: PageRange, { interval, series, totals }: ShownSeries, of = ""): Html {
  const title = clicksTitle(range);
  const label = `${title}${of}`;
  const kinds = ORDER.filter((kind) => range.bots || kind !== "preview");
  // Without a chosen zone portal.js shows hours in that of the browser.
  const isLocal = interval === "hour" && range.choice !== "custom" && range.typed.timezone === "";
  const format = formatIn(range, UNITS[interval].point);
  const number = (name: string, kind: keyof HitCounts): Column<SeriesPoint> => ({
    name,
    end: true,
    cell: (point) => count(point[kind]),
  });
  const columns: Column<SeriesPoint>[] = [
    {
      name: UNITS[interval].name,
      cell: ({ start }) => (isLocal ? time(new Date(start).toISOString()) : format(start)),
    },
    ...kinds.map((kind) => number(KIND_NAMES[kind], kind)),
    number(range.bots ? "All" : "Clicks", "total"),
  ];
  return card(
    title,
    html`<figure class="chart">
<div class="chart-keys">${kinds.map((kind) => html`<span><i class="key key-${kind}"></i>${KIND_NAMES[kind]}</span>`)}<span class="muted small" ${isLocal && html`data-static`}>Times are those of ${range.zone.name}.</span></div>
<div id="chart" ${live(range)}><div class="chart-canvas"><svg role="img" aria-label="${label}" data-left="${PLOT.left / 100}">${bars(series, kinds)}${labels(range, interval, series, isLocal)}</svg></div>${totals.total === 0 && html`<p class="chart-empty muted small">No clicks in this time.</p>`}</div>
<p class="chart-readout muted small"></p>
<details class="as-table"><summary>Show as a table</summary><div id="points" ${live(range)}>${table(label, columns, series)}</div></details>
</figure><p class="muted small">Clicks are visits of people; QR scans are those of them that came by the QR code, link clicks all others. Previews are fetches by bots and messengers.</p>`,
  );
}

function formatIn({ zone }: PageRange, form: Intl.DateTimeFormatOptions): (start: number) => string {
  const format = new Intl.DateTimeFormat("en", { ...form, timeZone: zone.name });
  return (start) => format.format(start);
}

/** Without a viewBox, so that the width stretches the bars and not the labels. */
function bars(series: readonly SeriesPoint[], kinds: readonly ClickKind[]): Html {
  const step = stepOf(Math.max(...series.map(({ total }) => total)));
  const steps = Math.max(1, ...series.map(({ total }) => Math.ceil(total / step)));
  const height = (hits: number) => (hits / (steps * step)) * PLOT.height;
  const y = (hits: number) => percent(PLOT.top + PLOT.height - height(hits));
  const slot = PLOT.width / series.length;
  const lines = Array.from({ length: steps + 1 }, (_, n) => {
    const at = y(n * step);
    return html`<line x1="${PLOT.left}%" x2="100%" y1="${at}" y2="${at}"/><text x="${PLOT.left - 1}%" y="${at}" dy="4" text-anchor="end">${compact.format(n * step)}</text>`;
  });
  const drawn = series.map((point, index) => {
    let sum = 0;
    return kinds.map((kind) => {
      sum += point[kind];
      const x = percent(PLOT.left + (index + 0.15) * slot);
      return (
        point[kind] > 0 &&
        html`<rect class="bar-${kind}" x="${x}" width="${percent(slot * 0.7)}" y="${y(sum)}" height="${percent(height(point[kind]))}"/>`
      );
    });
  });
  return html`${lines}${drawn}`;
}

/** Below the bars: of hours by their day, and of weeks by their month, the first alone. */
function labels(
  range: PageRange,
  interval: Interval,
  series: readonly SeriesPoint[],
  isLocal: boolean,
): Html[] {
  const isManyHours = interval === "hour" && series.length > MOST_HOURS;
  const nameOf = formatIn(range, UNITS[isManyHours ? "day" : interval].axis);
  const named = series
    .map(({ start }, index) => ({ index, start, name: nameOf(start) }))
    .filter(({ name }, n, all) => name !== all[n - 1]?.name);
  const every = Math.ceil(named.length / X_LABELS);
  return named
    .filter((_, n) => n % every === Math.floor(every / 2))
    .map(({ index, start, name }) => {
      const hour = isLocal && html`data-hour="${new Date(start).toISOString()}"`;
      const x = percent(PLOT.left + ((index + 0.5) * PLOT.width) / series.length);
      return html`<text ${hour} x="${x}" y="96%" text-anchor="middle">${name}</text>`;
    });
}

const compact = new Intl.NumberFormat("en", { notation: "compact" });

function percent(value: number): string {
  return `${value.toFixed(2)}%`;
}

/** Between two lines of the chart: 1, 2 or 5 times a power of ten, so that at most five reach the highest bar. */
function stepOf(highest: number): number {
  const least = Math.max(1, highest / Y_LABELS);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (([1, 2, 5] as const).find((times) => times * power >= least) ?? 10);
}

/** What the numbers of a page are of. */
function clicksTitle({ bots, name }: PageRange): string {
  return `${bots ? "Clicks and previews" : "Clicks"}, ${name}`;
}

/** `visitors`: a further card. */
export function clickStats(range: PageRange, totals: HitCounts, visitors?: Html): Html {
  const { click, qr_scan: scans, preview } = totals;
  const previews = html`<div class="card stat"><span class="stat-name">Previews</span><span class="stat-value" data-total="preview">${count(preview)}</span></div>`;
  return html`<section class="grid stats" id="stats" ${live(range)} aria-label="${clicksTitle(range)}">
<div class="card stat"><span class="stat-name">Clicks</span><span class="stat-value" data-total="click qr_scan">${count(click + scans)}</span>
<span class="muted small"><span class="number" data-total="qr_scan">${count(scans)}</span> of them QR scans</span></div>
${range.bots && previews}${visitors}</section>`;
}
