// The bar that chooses the range of time of a page of analytics, by links and a form, so that it works without scripts.
import { hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { parseLocalMoment, utcDate } from "../../runtime/moment.ts";
import { zoneOptions } from "../account/account-page.ts";
import { field } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { DATE, LONGEST, type PageRange, rangesFor } from "./range.ts";
import { ANALYTICS, type AnalyticsView, viewAddress } from "./view-address.ts";

/** `end`: at the end of the bar. */
export function rangeBar(view: AnalyticsView, tier: Tier, end?: HtmlValue): Html {
  const { range } = view;
  const { timezone } = range.typed;
  const all = hasDeveloperFeatures(tier);
  const entry = (choice: PageRange["choice"], name: string) => {
    if (!all && choice !== range.choice)
      return html`<a class="locked" href="/portal/plan" title="With the Developer plan">${name}${icon("star")}<span class="visually-hidden"> (Developer plan)</span></a>`;
    const days = choice === "custom" ? customDays(range) : { from: "", to: "" };
    const address = viewAddress(view, { range: { range: choice, ...days, timezone } });
    return html`<a href="${address}" ${choice === range.choice && html`aria-current="true"`}>${name}</a>`;
  };
  return html`<div class="range-bar"><nav class="choices" aria-label="Time shown">${rangesFor(tier).map(({ range: choice, name }) => entry(choice, name))}${entry("custom", "Custom")}</nav>${end}</div>
${range.choice === "custom" && customForm(view)}`;
}

/** With the first day of the range that is shown. */
function customDays({ choice, zone, request, typed }: PageRange): { from: string; to: string } {
  if (choice === "custom" || request?.from === undefined) return typed;
  return { from: utcDate(new Date(request.from + zone.offsetAt(request.from))), to: "" };
}

function customForm(view: AnalyticsView): Html {
  const { typed, errors } = view.range;
  const input = (label: string, name: "from" | "to", hint: string) => {
    const text = typed[name];
    // A picker shows nothing for another text, such as of an address written by hand, and would send nothing.
    const isShown = text === "" || (DATE.test(text) && parseLocalMoment(text) !== undefined);
    const type = isShown ? "date" : "text";
    const about = { error: errors[name], type, autocomplete: "off", maxlength: LONGEST } as const;
    return field({ label, name, hint, value: text, ...about });
  };
  const zone = {
    label: "Time zone",
    name: "timezone",
    value: typed.timezone,
    error: errors.timezone,
    options: zoneOptions(typed.timezone),
  };
  const rest = viewAddress(view, { range: { range: "custom", from: "", to: "", timezone: "" } });
  const hidden = [...new URLSearchParams(rest.split("?")[1])].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="get" action="${ANALYTICS}" class="card" aria-label="Range of time">${hidden}
<div class="grid grid-small">${input("First day", "from", "The beginning when empty")}
${input("Last day", "to", "Today when empty")}
${field(zone)}</div>
<div class="actions"><button class="button button-primary">${icon("chart")}Show</button></div></form>`;
}
