// The bar of a page of analytics: its range of time, what that is compared with, the length of its points, and the filters in its
// address; by links and a form, so that it works without scripts.
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { Interval } from "../../queries/analytics/intervals.ts";
import type { GroupBy } from "../../queries/analytics/question.ts";
import { parseDate, utcDate } from "../../runtime/moment.ts";
import { zoneOptions } from "../account/account-page.ts";
import { field } from "../shell/controls.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { LONGEST, type PageRange, rangesFor } from "./shown-range.ts";
import { FIELD_NAMES, valueName } from "./value-names.ts";
import { type AnalyticsView, hiddenView, viewAddress, withoutAddress } from "./view-address.ts";

const COMPARED = {
  previous: "the time before",
  week: "the week before",
  month: "the month before",
  year: "the year before",
  custom: "two dates",
  none: "nothing",
} as const satisfies Record<NonNullable<PageRange["typed"]["compare"]>, string>;

/** `end`: at the end of the bar. `interval`: of the points that are shown. */
export function rangeBar(view: AnalyticsView, end?: HtmlValue, interval?: Interval): Html {
  const { range, offersAll } = view;
  const entry = (choice: PageRange["choice"], name: string) => {
    if (!offersAll && choice !== range.choice)
      return html`<a class="locked" href="/portal/plan" title="With the Developer plan">${name}${icon("star")}<span class="visually-hidden"> (Developer plan)</span></a>`;
    const days = choice === "custom" ? customDays(range) : { from: "", to: "" };
    const address = viewAddress(view, { range: { range: choice, ...days } });
    return html`<a href="${address}" ${choice === range.choice && html`aria-current="true"`}>${name}</a>`;
  };
  const { compare = range.request?.from === undefined ? "none" : "previous" } = range.typed;
  const isForm = range.choice === "custom" || (offersAll && compare === "custom");
  return html`<div class="range-bar"><nav class="choices" aria-label="Time shown">${rangesFor(offersAll).map(({ range: choice, name }) => entry(choice, name))}${entry("custom", "Custom")}</nav>
${interval && range.intervals.length > 1 && menu("By", interval, Object.fromEntries(range.intervals.map((name) => [name, name])), (name) => viewAddress(view, { range: { interval: name as Interval } }))}
${offersAll && menu("Compared with", compare, COMPARED, (name) => viewAddress(view, { range: { compare: name as typeof compare } }))}${end}</div>
${isForm && customForm(view)}`;
}

/** Opens without scripts. */
function menu(
  label: string,
  current: string,
  names: Readonly<Record<string, string>>,
  to: (name: string) => string,
): Html {
  const entries = Object.entries(names).map(
    ([name, shown]) =>
      html`<a class="button" href="${to(name)}" ${name === current && html`aria-current="true"`}>${shown}</a>`,
  );
  return html`<details class="menu"><summary class="button button-small">${label} ${names[current]}</summary><div class="menu-box">${entries}</div></details>`;
}

/** With the first day of the range that is shown. */
function customDays({ choice, zone, request, typed }: PageRange): { from: string; to: string } {
  if (choice === "custom" || request?.from === undefined) return typed;
  return { from: utcDate(new Date(request.from + zone.offsetAt(request.from))), to: "" };
}

function customForm(view: AnalyticsView): Html {
  const { typed, errors, choice } = view.range;
  const input = (label: string, name: "from" | "to" | "compare_from" | "compare_to", hint?: string) => {
    const text = typed[name];
    // A picker shows nothing for another text, such as of an address written by hand, and would send nothing.
    const isShown = text === "" || parseDate(text) !== undefined;
    const type = isShown ? "date" : "text";
    const about = { error: errors[name], type, maxlength: LONGEST } as const;
    return field({ label, name, hint, value: text, ...about });
  };
  const zone = {
    label: "Time zone",
    name: "timezone",
    value: typed.timezone,
    error: errors.timezone,
    options: zoneOptions(typed.timezone),
  };
  const own = choice === "custom" ? { from: "", to: "", timezone: "" } : {};
  const compared = typed.compare === "custom" ? { compare_from: "", compare_to: "" } : {};
  const others = hiddenView(view, { range: { ...own, ...compared } });
  return html`<form method="get" action="${view.path}" class="card" aria-label="Range of time">${others}
<div class="grid grid-small">${choice === "custom" && html`${input("First day", "from", "The beginning when empty")}${input("Last day", "to", "Today when empty")}${field(zone)}`}
${typed.compare === "custom" && html`${input("Compared with, first day", "compare_from")}${input("Compared with, last day", "compare_to")}`}</div>
<div class="actions"><button class="button button-primary">${icon("chart")}Show</button></div></form>`;
}

/** The filters, each taken away by a click. `link`: the one whose numbers they are. */
export function filterChips(view: AnalyticsView, link?: LinkDocument): Html | false {
  const chips = Object.entries(view.filters).flatMap(([field, values]) =>
    (values as readonly string[]).map((value) => {
      const [name] = FIELD_NAMES[field as GroupBy];
      const shown = valueName(field as GroupBy, value, link);
      return html`<li><a class="badge chip" href="${withoutAddress(view, field as GroupBy, value)}" title="Take this filter away"><span class="chip-field">${name}</span><span class="clip">${shown}</span>${icon("close")}<span class="visually-hidden">: take away</span></a></li>`;
    }),
  );
  if (chips.length === 0) return false;
  const without = viewAddress(view, { filters: view.shared ?? {} });
  const all = chips.length > 1 && html`<li><a class="small" href="${without}">Clear all</a></li>`;
  return html`<ul class="chips" aria-label="Filters">${chips}${all}</ul>`;
}
