// The values of one field as ranked bars, each of which is a filter.
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { Group, GroupBy, GroupRow, Totals } from "../../queries/analytics/question.ts";
import { count } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import { knownMetric, metricNoun, numberOf, shadeOf } from "./metrics.ts";
import { valueName } from "./value-names.ts";
import { type AnalyticsView, filterAddress, type Metric } from "./view-address.ts";

/** Of many, so many are shown at once; a few more take no more room than what would unfold them. */
const [SHOWN, FEW] = [8, 10];
const HOURS = 24;

/** The first bars are shown at once; hours as cells. `link`: the one whose numbers they are. */
export function barsOf(
  field: GroupBy,
  { rows, other }: Group,
  view: AnalyticsView,
  totals: Totals,
  link?: LinkDocument,
): Html {
  const metric = knownMetric(rows, view.show);
  const counted = rows.filter((row) => numberOf(row, metric) > 0);
  if (counted.length === 0) return html`<p class="muted">No ${metricNoun(metric)} in this time.</p>`;
  const all = totals[metric] ?? 0;
  const most = Math.max(...counted.map((row) => numberOf(row, metric)));
  const scale = { metric, all, most };
  const note = html`<p class="muted small">Clicks, as visitors of each aren't known for this time.</p>`;
  const isInOrder = field === "hour" || field === "weekday";
  counted.sort((a, b) =>
    isInOrder && a.value < b.value ? -1 : isInOrder ? 1 : numberOf(b, metric) - numberOf(a, metric),
  );
  if (field === "hour") return html`${metric !== view.show && note}${hourCells(counted, view, scale)}`;
  const bars = (part: readonly GroupRow[]) =>
    html`<ul class="bars">${part.map((row) => {
      const name = row.label ?? valueName(field, row.value, link);
      const title = row.label ? `${name} · ${row.value}` : name;
      return html`<li><a class="bar-row" href="${filterAddress(view, field, row.value)}" ${isChosen(view, field, row) && html`aria-current="true"`} title="${title}">${bar(name, numberOf(row, metric), scale)}</a></li>`;
    })}</ul>`;
  const split = counted.length <= FEW ? FEW : SHOWN;
  const rest = counted.slice(split);
  const more = html`<details class="more"><summary>${count(rest.length)} more</summary>${bars(rest)}</details>`;
  const others = other ? numberOf(other, metric) : 0;
  return html`${metric !== view.show && note}${bars(counted.slice(0, split))}${rest.length > 0 && more}${others > 0 && html`<ul class="bars"><li><span class="bar-row">${bar("All others", others, scale)}</span></li></ul>`}`;
}

/** `all`: of the page; `most`: of one value. */
type Scale = { metric: Metric; all: number; most: number };

/** All hours of a day, the busier the darker. */
function hourCells(rows: readonly GroupRow[], view: AnalyticsView, { metric, all, most }: Scale): Html {
  const numbers = new Map(rows.map((row) => [row.value, numberOf(row, metric)]));
  const cells = Array.from({ length: HOURS }, (_, hour) => {
    const value = String(hour).padStart(2, "0");
    const number = numbers.get(value) ?? 0;
    const shade = shadeOf(number, most);
    const about = `${valueName("hour", value)}: ${count(number)} (${shareText(number, all)})`;
    return html`<li><a class="shade-${shade}" href="${filterAddress(view, "hour", value)}" ${isChosen(view, "hour", { value }) && html`aria-current="true"`} title="${about}">${value}<span class="visually-hidden">${about}</span></a></li>`;
  });
  return html`<ul class="cells">${cells}</ul>`;
}

function isChosen({ filters }: AnalyticsView, field: GroupBy, { value }: Pick<GroupRow, "value">): boolean {
  return filters[field]?.includes(value) ?? false;
}

/** Its SVG width needs neither scripts nor inline styles; the longest bar is full. */
function bar(name: string, number: number, { all, most }: Scale): Html {
  const width = (number / most) * 100;
  return html`<svg class="bar" preserveAspectRatio="none" viewBox="0 0 100 1" aria-hidden="true"><rect width="${Math.min(100, width).toFixed(2)}" height="1"/></svg>
<span class="bar-name clip">${name}</span><span class="number">${count(number)}</span><span class="bar-share number">${shareText(number, all)}</span>`;
}

function shareText(number: number, all: number): string {
  const share = all === 0 ? 0 : Math.min(100, (number / all) * 100);
  return `${share.toFixed(share < 10 ? 1 : 0)}%`;
}
