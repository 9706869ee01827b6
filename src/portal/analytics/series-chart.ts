// One number over time as an SVG chart with axes, the time that it is compared with as a line, in which chart.js reads a value at
// the pointer; and as a table.
import { isWithin } from "../../queries/analytics/gaps.ts";
import type { Interval } from "../../queries/analytics/intervals.ts";
import type { AccountAnswer, Point } from "../../queries/analytics/question.ts";
import { count } from "../links/link-view.ts";
import { type Html, html, offered } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { type Columns, table } from "../shell/layout.ts";
import { exportLink } from "./export-routes.ts";
import { live, METRIC_ROWS, metricNoun, metricTabs, metricText, numberOf, periodName } from "./metrics.ts";
import type { PageRange } from "./shown-range.ts";
import { type AnalyticsView, METRICS, type Metric } from "./view-address.ts";

const DAY = { weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
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

/** Of the figure, in per cent of the drawing: what the lines mean stands above them, so that no width cuts it. */
const PLOT = { top: 8, height: 78 };
const X_LABELS = 7;
const Y_LABELS = 4;

/** Tabs, chart and table. `of`: what the numbers are of, for screen readers. */
export function chartCard(view: AnalyticsView, answer: AccountAnswer, of = ""): Html {
  const { range, show, offersAll } = view;
  const title = `${METRIC_ROWS[show].name}, ${range.name}${of}`;
  const { zone } = range;
  const { previous } = answer;
  const isEmpty = answer.totals[show] === 0 && !previous?.totals[show];
  const empty = html`<p class="chart-empty muted small">No ${metricNoun(show)} in this time.</p>`;
  const compared =
    previous &&
    html`<p class="muted small"><i class="key key-then"></i>${periodName(range, previous, answer)}</p>`;
  return html`<section class="card chart-card"><h2 class="visually-hidden">${title}</h2>
${metricTabs(view, answer)}
<figure class="chart">
<div class="chart-canvas" data-label="${title}"><div id="chart" ${live(range)}><svg role="img" aria-label="${title}">${drawing(range, answer, show)}</svg>${isEmpty && empty}</div></div>
<div class="chart-foot"><details class="as-table"><summary>Show as a table</summary><div id="points" ${live(range)}>${seriesTable(title, range, answer, show)}</div></details>
${compared}${gapsNote(range, answer)}<p class="muted small">Times are those of ${zone.name.replaceAll("_", " ")}.${!view.shared && offered("/portal/account/time-zone", html` <a href="/portal/account#time-zone">Change</a>`)}</p>
${offersAll && html`<p class="actions">${exportLink(view, "series", "the chart")}<button type="button" class="button button-small" data-png="${title}" hidden>${icon("download")}PNG</button></p>`}</div>
</figure></section>`;
}

function seriesTable(title: string, range: PageRange, answer: AccountAnswer, show: Metric): Html {
  const { interval, series, previous } = answer;
  const format = formatIn(range, UNITS[interval].point);
  const then = (point: Point) => previous?.series[series.indexOf(point)];
  const metrics = METRICS.map((metric) => [
    METRIC_ROWS[metric].name,
    { end: true, cell: (point: Point) => metricText(point, metric) },
  ]);
  const columns: Columns<Point> = {
    [UNITS[interval].name]: ({ start }) => format(start),
    ...Object.fromEntries(metrics),
    ...(previous && {
      "Compared with": (point) => format(then(point)?.start),
      [`${METRIC_ROWS[show].name} then`]: { end: true, cell: (point) => metricText(then(point), show) },
    }),
  };
  return table(title, columns, series);
}

function formatIn(
  { zone }: PageRange,
  form: Intl.DateTimeFormatOptions,
): (start: number | undefined) => string {
  const format = new Intl.DateTimeFormat("en", { ...form, timeZone: zone.name });
  return (start) => (start === undefined ? "" : format.format(start));
}

/** The times that are marked in the chart. */
function gapsNote(range: PageRange, { gaps }: AccountAnswer): Html | false {
  const [first] = gaps;
  if (!first) return false;
  const format = formatIn(range, { ...DAY, ...HOUR });
  const last = Math.max(...gaps.map(({ until }) => Date.parse(until)));
  const hits = gaps.reduce((sum, gap) => sum + gap.hits, 0);
  return html`<p class="small">${icon("alert")} Marked: ${format(Date.parse(first.from))} to ${format(last)}, the service could not record ${count(hits)} visits of all its links.</p>`;
}

/** Without a viewBox, so that the width stretches the bars and not the labels. */
function drawing(range: PageRange, answer: AccountAnswer, show: Metric): Html {
  const { series, previous } = answer;
  const then = previous?.series.slice(0, series.length) ?? [];
  const highest = Math.max(...[...series, ...then].map((point) => numberOf(point, show)));
  const step = stepOf(highest);
  const lines = Math.max(1, Math.ceil(highest / step));
  const y = (number: number) => PLOT.top + PLOT.height * (1 - number / (lines * step));
  const x = (index: number) => ((index + 0.5) * 100) / series.length;
  const steps = Array.from({ length: lines + 1 }, (_, n) => n * step);
  const rules = steps.map(
    (number) => html`<line x2="100%" y1="${percent(y(number))}" y2="${percent(y(number))}"/>`,
  );
  const scale = steps
    .slice(1)
    .map((number) => html`<text y="${percent(y(number))}" dy="-4">${compact.format(number)}</text>`);
  const line = then.slice(1).map((point, n) => {
    const [a, b] = [numberOf(then[n] as Point, show), numberOf(point, show)].map((number) =>
      percent(y(number)),
    );
    return html`<line x1="${percent(x(n))}" y1="${a}" x2="${percent(x(n + 1))}" y2="${b}"/>`;
  });
  return html`${rules}${labels(range, answer)}${points(range, answer, show, y)}<g class="then">${line}</g>${scale}`;
}

/** Each with its bar, in a column that says what it is: by its title, which chart.js shows beside the pointer. */
function points(
  range: PageRange,
  { interval, series, previous, gaps, to }: AccountAnswer,
  show: Metric,
  y: (number: number) => number,
): Html[] {
  const format = formatIn(range, UNITS[interval].point);
  const slot = 100 / series.length;
  return series.map((point, index) => {
    const top = y(numberOf(point, show));
    const left = index * slot;
    const bar =
      numberOf(point, show) > 0 &&
      html`<rect class="bar-${show}" x="${percent(left + slot * 0.15)}" width="${percent(slot * 0.7)}" y="${percent(top)}" height="${percent(PLOT.top + PLOT.height - top)}"/>`;
    const lacks = gaps.some((gap) => isWithin(gap, point.start, series[index + 1]?.start ?? to));
    const [number, noun] = [metricText(point, show), metricNoun(show, point[show])];
    const counted = point[show] === null ? `${noun} ${number}` : `${number} ${noun}`;
    const gapped = lacks && html`, not all recorded`;
    const before = previous?.series[index];
    const then = before && html`; ${format(before.start)}: ${metricText(before, show)}`;
    return html`<g class="point"><title>${format(point.start)}: ${counted}${gapped}${then}</title><rect class="column ${lacks && "gap"}" x="${percent(left)}" width="${percent(slot)}" y="${PLOT.top}%" height="${PLOT.height}%"/>${bar}</g>`;
  });
}

/** Below the bars: of hours by their day, and of weeks by their month, the first alone. */
function labels(range: PageRange, { interval, series }: AccountAnswer): Html[] {
  const isManyHours = interval === "hour" && series.length > MOST_HOURS;
  const nameOf = formatIn(range, isManyHours ? UNITS.day.axis : UNITS[interval].axis);
  const named = series
    .map(({ start }, index) => ({ index, name: nameOf(start) }))
    .filter(({ name }, n, all) => name !== all[n - 1]?.name);
  const every = Math.ceil(named.length / X_LABELS);
  return named
    .filter((_, n) => n % every === Math.floor(every / 2))
    .map(({ index, name }, n) => {
      const x = ((index + 0.5) * 100) / series.length;
      // Those at the ends would be cut.
      const anchor = x < 5 ? "start" : x > 95 ? "end" : "middle";
      return html`<text class="${n % 2 === 1 && "spare"}" x="${percent(x)}" y="97%" text-anchor="${anchor}">${name}</text>`;
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
