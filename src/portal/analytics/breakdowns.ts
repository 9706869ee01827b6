// What the clicks of an answer are broken down by: cards that are declared here, each with tabs of ranked bars, a map or a grid, in
// which each value is a filter. What has nothing to show takes no room.
import { SHARED_CARDS, type SharedCard } from "../../events/accounts/sharing-events.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { AccountAnswer, Group, GroupBy, GroupRow } from "../../queries/analytics/question.ts";
import { count } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import { exportLink } from "./export-routes.ts";
import { knownMetric, live, metricNoun, numberOf, shadeOf } from "./metrics.ts";
import { countryName, FIELD_NAMES, valueName, WEEKDAYS } from "./value-names.ts";
import { type AnalyticsView, filterAddresses, type Metric } from "./view-address.ts";

type CardOfGroups = { key: SharedCard; name: string; groups: readonly GroupBy[] };

export const CARDS: readonly CardOfGroups[] = [
  { key: "links", name: "What was followed", groups: ["link", "tag", "domain", "rule"] },
  { key: "places", name: "Places", groups: ["country", "region", "city", "language"] },
  {
    key: "sources",
    name: "Sources",
    groups: ["referrer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"],
  },
  { key: "devices", name: "Devices", groups: ["device", "browser", "os"] },
  { key: "times", name: "Times", groups: ["weekday_hour"] },
];

/** Of one link its rules, of several which they are. */
const LEFT_OUT: Readonly<Record<"account" | "link", readonly GroupBy[]>> = {
  account: ["rule"],
  link: ["link", "domain"],
};

/** What the page asks for. `link`: the one whose numbers they are. `shown`: of a shared page. */
export function groupsOf(
  link: LinkDocument | undefined,
  shown: readonly SharedCard[] = SHARED_CARDS,
): GroupBy[] {
  const leftOut = LEFT_OUT[link ? "link" : "account"];
  return CARDS.filter(({ key }) => shown.includes(key))
    .flatMap(({ groups }) => groups)
    .filter((group) => !leftOut.includes(group));
}

/** Rows of a group that are asked for; its file has more. */
export const MOST_ROWS = 50;
/** Of many, so many are shown at once; a few more take no more room than what would unfold them. */
const [SHOWN, FEW] = [8, 10];

/** `link`: the one whose numbers they are. `world`: address of the map. */
export function breakdownCards(
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
  world: string,
): Html {
  const cards = CARDS.map((declared) => [
    tabbedCard(declared, view, answer, link),
    declared.groups.includes("country") && worldMap(view, answer, world),
  ]);
  return html`<div class="grid breakdowns" id="breakdowns" ${live(view.range)}>${cards}</div>`;
}

/** `all`: of the page; `most`: of one value; `rows`: those that have any. */
type Counted = { metric: Metric; rows: GroupRow[]; all: number; most: number };

/** Undefined where no value has any. */
function countedIn(
  view: AnalyticsView,
  { groups, totals }: AccountAnswer,
  field: GroupBy,
): Counted | undefined {
  const { rows = [] } = groups[field] ?? {};
  const metric = knownMetric(rows, view.show);
  const counted = rows.filter((row) => numberOf(row, metric) > 0);
  if (counted.length === 0) return undefined;
  counted.sort((a, b) => numberOf(b, metric) - numberOf(a, metric));
  const [first] = counted as [GroupRow];
  return { metric, rows: counted, all: totals[metric] ?? 0, most: numberOf(first, metric) };
}

/** Without scripts: radio buttons, whose panels stand behind their labels. */
function tabbedCard(
  { key, name, groups }: CardOfGroups,
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
): Html | false {
  const shown = groups.flatMap((field) => {
    const counted = countedIn(view, answer, field);
    return counted ? [{ field, counted }] : [];
  });
  const open = shown.find(({ field }) => view.open.includes(field)) ?? shown[0];
  const tabs = shown.map(
    ({ field, counted }, index) =>
      html`<input type="radio" name="card-${key}" id="tab-${field}" value="${index === 0 ? "" : field}" autocomplete="off" ${field === open?.field && html`checked`}><label for="tab-${field}">${FIELD_NAMES[field][1]}</label>
<div class="panel">${counted.metric !== view.show && html`<p class="muted small">Clicks, as visitors of each aren't known for this time.</p>`}
${field === "weekday_hour" ? hoursOfWeek(view, counted) : barsOf(field, answer.groups[field]?.other, view, counted, link)}
${view.offersAll && exportLink(view, field, FIELD_NAMES[field][1])}</div>`,
  );
  return (
    shown.length > 0 &&
    html`<section class="card card-${key}"><h2 class="visually-hidden">${name}</h2><div class="tabs" role="group" aria-label="${name} by">${tabs}</div></section>`
  );
}

/** The most clicked links, as of the dashboard; undefined where none was. */
export function topLinks(view: AnalyticsView, answer: AccountAnswer): Html | undefined {
  const counted = countedIn(view, answer, "link");
  return counted && barsOf("link", undefined, view, counted);
}

/** Ranked; the first ones are shown at once. */
function barsOf(
  field: GroupBy,
  other: Group["other"],
  view: AnalyticsView,
  counted: Counted,
  link?: LinkDocument,
): Html {
  const { rows, metric } = counted;
  const addressOf = filterAddresses(view, field);
  const bars = (part: readonly GroupRow[]) =>
    html`<ul class="bars">${part.map((row) => {
      const name = row.label ?? valueName(field, row.value, link);
      const title = row.label ? `${name} · ${row.value}` : name;
      return html`<li><a class="bar-row" href="${addressOf(row.value)}" ${isChosen(view, field, row.value)} title="${title}">${bar(name, numberOf(row, metric), counted)}</a></li>`;
    })}</ul>`;
  const split = rows.length <= FEW ? FEW : SHOWN;
  const rest = rows.slice(split);
  const more = html`<details class="more"><summary>${count(rest.length)} more</summary>${bars(rest)}</details>`;
  const others = other ? numberOf(other, metric) : 0;
  return html`${bars(rows.slice(0, split))}${rest.length > 0 && more}${others > 0 && html`<ul class="bars"><li><span class="bar-row">${bar("All others", others, counted)}</span></li></ul>`}`;
}

function isChosen({ filters }: AnalyticsView, field: GroupBy, value: string): Html | false {
  return (filters[field]?.includes(value) ?? false) && html`aria-current="true"`;
}

/** Its SVG width needs neither scripts nor inline styles; the longest bar is full. */
function bar(name: string, number: number, { all, most }: Counted): Html {
  const width = (number / most) * 100;
  return html`<svg class="bar" preserveAspectRatio="none" viewBox="0 0 100 1" aria-hidden="true"><rect width="${Math.min(100, width).toFixed(2)}" height="1"/></svg>
<span class="bar-name clip">${name}</span><span class="number">${count(number)}</span><span class="bar-share number">${shareText(number, all)}</span>`;
}

function shareText(number: number, all: number): string {
  const share = all === 0 ? 0 : Math.min(100, (number / all) * 100);
  return `${share.toFixed(share < 10 ? 1 : 0)}%`;
}

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
const compact = new Intl.NumberFormat("en", { notation: "compact" });

/** A table of all hours by the days of the week: the busier the darker, each with its number. */
function hoursOfWeek(view: AnalyticsView, { rows, metric, most }: Counted): Html {
  const numbers = new Map(rows.map((row) => [row.value, numberOf(row, metric)]));
  const addressOf = filterAddresses(view, "weekday_hour");
  const cell = (value: string) => {
    const number = numbers.get(value) ?? 0;
    const about = `${valueName("weekday_hour", value)}: ${count(number)} ${metricNoun(metric, number)}`;
    const link = html`<a class="shade-${shadeOf(number, most)}" href="${addressOf(value)}" ${isChosen(view, "weekday_hour", value)} title="${about}" aria-label="${about}">${compact.format(number)}</a>`;
    return html`<td>${number > 0 && link}</td>`;
  };
  const heads = WEEKDAYS.map(
    (day) => html`<th scope="col"><abbr title="${day}">${day.slice(0, 3)}</abbr></th>`,
  );
  const lines = HOURS.map(
    (hour) =>
      html`<tr><th scope="row">${hour}</th>${WEEKDAYS.map((_, day) => cell(`${day + 1}-${hour}`))}</tr>`,
  );
  return html`<table class="heat number"><caption class="visually-hidden">Hours by the days of the week</caption><thead><tr><th scope="col">Hour</th>${heads}</tr></thead><tbody>${lines}</tbody></table>`;
}

/** `world`: address of the drawing, whose parts are named by the codes of countries. Screen readers have the list of countries. */
function worldMap(view: AnalyticsView, answer: AccountAnswer, world: string): Html | false {
  const counted = countedIn(view, answer, "country");
  const located = counted?.rows.filter(({ value }) => /^[A-Z]{2}$/.test(value)) ?? [];
  if (!counted || located.length === 0) return false;
  const { metric, most } = counted;
  const addressOf = filterAddresses(view, "country");
  const countries = located.map((row) => {
    const number = numberOf(row, metric);
    const title = `${countryName(row.value)}: ${count(number)} ${metricNoun(metric, number)}`;
    // A country with few clicks among many still stands out from those with none.
    const shade = shadeOf(Math.sqrt(number), Math.sqrt(most));
    return html`<a href="${addressOf(row.value)}" tabindex="-1"><title>${title}</title><use class="shade-${shade}" href="${world}#${row.value}"/></a>`;
  });
  return html`<section class="card card-map"><h2>Map</h2>
<svg class="world" viewBox="0 0 720 344" aria-hidden="true"><use href="${world}#world"/>${countries}</svg></section>`;
}
