// The numbers of an answer as tabs of one chart, each with its change against what it is compared with.
import { type ClickKind, PEOPLE_KINDS } from "../../events/vocabulary.ts";
import type { AccountAnswer, Period, Totals } from "../../queries/analytics/question.ts";
import { count } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import type { PageRange } from "./shown-range.ts";
import { type AnalyticsView, METRICS, type Metric, viewAddress } from "./view-address.ts";

/**
 * `noun`: of one. `about`: what the number is. `isGood`: whether more of them is. `column`: of files. `kinds`: of the hits that it
 * counts.
 */
type MetricRow = {
  name: string;
  noun: string;
  about: string;
  isGood: boolean;
  column: string;
  kinds: readonly ClickKind[];
};

export const METRIC_ROWS: Readonly<Record<Metric, MetricRow>> = {
  people: {
    name: "Clicks",
    noun: "click",
    about: "People who followed a link, by its address or its QR code.",
    isGood: true,
    column: "clicks",
    kinds: PEOPLE_KINDS,
  },
  visitors: {
    name: "Visitors",
    noun: "visitor",
    about: "Who clicked, each counted once a day, as nobody is followed from one day to the next.",
    isGood: true,
    column: "visitors",
    kinds: PEOPLE_KINDS,
  },
  qr_scan: {
    name: "QR scans",
    noun: "QR scan",
    about: "Of the clicks those by a QR code.",
    isGood: true,
    column: "qr_scans",
    kinds: ["qr_scan"],
  },
  preview: {
    name: "Previews",
    noun: "preview",
    about: "Fetches by bots and messengers, which are no clicks.",
    isGood: false,
    column: "previews",
    kinds: ["preview"],
  },
};

/** Within a sentence; of no number, or of several. */
export function metricNoun(metric: Metric, number: number | null = null): string {
  return `${METRIC_ROWS[metric].noun}${number === 1 ? "" : "s"}`;
}

/** Where a page hears that its numbers have changed (live-numbers.ts). */
const LIVE = "/portal/live";

/** On the parts of a page that live.js keeps up to date. */
export function live({ includesNow }: PageRange): Html | false {
  return includesNow && html`data-live data-events="${LIVE}"`;
}

/** Such as visitors of clicks that were imported without addresses. */
const NOT_KNOWN = "not known";

/** "" of no point. */
export function metricText(totals: Totals | undefined, metric: Metric): string {
  const number = totals?.[metric];
  if (number === undefined) return "";
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
    const { name, about } = METRIC_ROWS[metric];
    const value = html`<span class="stat-value" data-total="${metric}">${metricText(answer.totals, metric)}</span>`;
    return html`<a href="${viewAddress(view, { show: metric })}" class="metric" title="${about}" ${metric === view.show && html`aria-current="true"`}>
<span class="stat-name"><i class="key key-${metric}"></i>${name}</span>${value}${change(view, answer, metric)}</a>`;
  });
  return html`<nav class="metrics" id="metrics" ${live(view.range)} aria-label="What is counted">${tabs}</nav>`;
}

const shares = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });

/** Such as `Mar 16 – 22`; with the year where it is another one than that of the range. */
export function periodName({ zone }: PageRange, { from, to }: Period, other: Period): string {
  const yearOf = (at: number) => new Date(at).getUTCFullYear();
  const year = yearOf(from) === yearOf(other.from) ? undefined : ("numeric" as const);
  const format = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year, timeZone: zone.name });
  return format.formatRange(from, Math.max(from, to - 1));
}

/** Nothing where there is nothing to compare with, or where it isn't known. */
function change({ range }: AnalyticsView, answer: AccountAnswer, metric: Metric): Html | false {
  const { totals, previous } = answer;
  const [now, before] = [totals[metric], previous?.totals[metric] ?? null];
  if (!previous || now === null || before === null) return false;
  const title = `${count(before)}: ${periodName(range, previous, answer)}`;
  const shown = (kind: string, text: string, words: string) =>
    html`<span class="change change-${METRIC_ROWS[metric].isGood ? kind : "none"}" title="${title}">${text}<span class="visually-hidden"> ${words} than then</span></span>`;
  if (now === before) return now > 0 && shown("none", "±0%", "no more");
  if (before === 0) return shown("up", "new", "more");
  const share = shares.format(Math.abs(now - before) / before);
  return now > before ? shown("up", `▲ ${share}`, "more") : shown("down", `▼ ${share}`, "less");
}
