// The numbers of an answer as tabs of one chart, each with its change against the period before.
import type { AccountAnswer, Totals } from "../../queries/analytics/question.ts";
import { count } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import type { PageRange } from "./range.ts";
import { type AnalyticsView, METRICS, type Metric, viewAddress } from "./view-address.ts";

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  people: "Clicks",
  visitors: "Visitors",
  qr_scan: "QR scans",
  preview: "Previews",
};

const NOUNS: Readonly<Record<Metric, string>> = {
  people: "click",
  visitors: "visitor",
  qr_scan: "QR scan",
  preview: "preview",
};

/** Within a sentence; of no number, or of several. */
export function metricNoun(metric: Metric, number: number | null = null): string {
  return number === 1 ? NOUNS[metric] : `${NOUNS[metric]}s`;
}

/** What the numbers are, in a sentence. */
const ABOUT: Readonly<Record<Metric, string>> = {
  people: "Visits of people, by the link or its QR code.",
  visitors: "People, each counted once a day, as nobody is followed from one day to the next.",
  qr_scan: "Clicks that came by the QR code.",
  preview: "Fetches by bots and messengers, which are no clicks.",
};

/** A page that is open all day asks seldom enough. */
const REFRESH_MS = 5_000;

/** On the parts of a page that live.js keeps up to date. */
export function live({ includesNow }: PageRange): Html | false {
  return includesNow && html`data-live data-busy="${REFRESH_MS}"`;
}

/** Such as visitors of clicks that were imported without addresses. */
const NOT_KNOWN = "not known";

export function metricText(totals: Totals, metric: Metric): string {
  const number = totals[metric];
  return number === null ? NOT_KNOWN : count(number);
}

/** Clicks where the visitors of single values aren't known. */
export function knownMetric(rows: readonly Totals[], show: Metric): Metric {
  return rows.some((row) => row[show] === null) ? "people" : show;
}

export function numberOf(totals: Totals, metric: Metric): number {
  return totals[metric] ?? 0;
}

const SHADES = 5;

/** 0 for none to 5 for the most, of classes that are the darker. */
export function shadeOf(number: number, most: number): number {
  return Math.ceil((number / Math.max(1, most)) * SHADES);
}

export function metricTabs(view: AnalyticsView, answer: AccountAnswer): Html {
  const tabs = METRICS.map((metric) => {
    const value = html`<span class="stat-value" data-total="${metric}">${metricText(answer.totals, metric)}</span>`;
    return html`<a href="${viewAddress(view, { show: metric })}" class="metric" title="${ABOUT[metric]}" ${metric === view.show && html`aria-current="true"`}>
<span class="stat-name"><i class="key key-${metric}"></i>${METRIC_NAMES[metric]}</span>${value}${change(view, answer, metric)}</a>`;
  });
  return html`<nav class="metrics" id="metrics" ${live(view.range)} aria-label="What is counted">${tabs}</nav>`;
}

const shares = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const days = { day: "numeric", month: "short" } as const;

/** Nothing where there is no period before, or where it isn't known. */
function change({ range }: AnalyticsView, { totals, previous }: AccountAnswer, metric: Metric): Html | false {
  const [now, before] = [totals[metric], previous?.totals[metric] ?? null];
  if (!previous || now === null || before === null) return false;
  const format = new Intl.DateTimeFormat("en", { ...days, timeZone: range.zone.name });
  const period = format.formatRange(previous.from, Math.max(previous.from, previous.to - 1));
  const than = html`<span class="visually-hidden"> than before</span>`;
  const title = `${count(before)}: ${period}`;
  const shown = (kind: string, text: string, words: string) =>
    html`<span class="change change-${kind}" title="${title}">${text}<span class="visually-hidden"> ${words}</span>${than}</span>`;
  if (now === before) return now > 0 && shown("none", "±0%", "no more");
  if (before === 0) return html`<span class="change change-up" title="${title}">new</span>`;
  const share = shares.format(Math.abs(now - before) / before);
  return now > before ? shown("up", `▲ ${share}`, "more") : shown("down", `▼ ${share}`, "less");
}
