// The range of time that a page of analytics shows, read from its address, and the bar that chooses it by links and a
// form, so that it works without scripts. More than 24 hours needs the Developer tier.
import { z } from "zod";
import { CLICK_KINDS, PEOPLE_KINDS, TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import { namedRange, RANGES, type Range } from "../../queries/analytics/ranges/named-ranges.ts";
import { asOfOf, type RangeRequest, timeOf } from "../../queries/analytics/ranges/range-request.ts";
import { DAY_MS, instantOf, type TimeZone, timeZone, UTC } from "../../queries/analytics/ranges/time-zone.ts";
import { parseLocalMoment, utcDate } from "../../runtime/moment.ts";
import { isRefused } from "../../runtime/refused.ts";
import { counted } from "../links/link-view.ts";
import { choice, field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";

const NAMES = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "12mo": "12 months",
} as const satisfies Record<Range, string>;

const LONGEST = 100;
/** What can't be typed in the form counts as empty. */
const typed = z
  .string()
  .transform((text) => text.trim().slice(0, LONGEST))
  .catch("");

export const Bots = z.literal("1").optional().catch(undefined);

export const RangeQuery = z.object({
  range: z
    .enum([...RANGES, "custom"])
    .optional()
    .catch(undefined),
  from: typed,
  to: typed,
  timezone: typed,
  as_of: typed,
  bots: Bots,
});
type RangeQuery = z.infer<typeof RangeQuery>;

type RangeField = "from" | "to" | "timezone" | "as_of";

/**
 * `typed`: as it stands in the form. `request`: undefined when a field can't be read. `includesNow`: later clicks will be in
 * it. `name`: such as `last 7 days`.
 */
export type PageRange = {
  choice: Range | "custom";
  typed: Record<RangeField, string>;
  errors: Partial<Record<RangeField, string>>;
  zone: TimeZone;
  request: RangeRequest | undefined;
  bots: boolean;
  includesNow: boolean;
  name: string;
};

/** The range that the query asks for if the tier allows it, else the last 24 hours. */
export function pageRange(query: RangeQuery, tier: Tier, now: Date): PageRange {
  const { range, bots: given, ...fields } = query;
  const bots = given !== undefined;
  if (!TIER_LIMITS[tier].developerFeatures)
    return named("24h", { from: "", to: "", timezone: "", as_of: "" }, bots, now);
  const isCustom = range === "custom" || (!range && (fields.from || fields.to || fields.as_of) !== "");
  return isCustom ? custom(fields, bots, now) : named(range ?? "7d", fields, bots, now);
}

/** With what only the answer can tell, such as that the link did not exist then. */
export function withError(range: PageRange, name: RangeField, message: string): PageRange {
  return { ...range, errors: { ...range.errors, [name]: message } };
}

/** Of a range that has too many points even by months: 400 of them are 33 years. */
export function withTooLong(range: PageRange): PageRange {
  const name = range.typed.to !== "" && range.includesNow ? "to" : "from";
  return withError(range, name, "At most 33 years can be shown.");
}

function named(range: Range, fields: PageRange["typed"], bots: boolean, now: Date): PageRange {
  const zone = timeZone(fields.timezone || "UTC") ?? UTC;
  const { from, interval } = namedRange(range, zone, now);
  const timezone = timeZone(fields.timezone) ? fields.timezone : "";
  return {
    choice: range,
    typed: { from: "", to: "", timezone, as_of: "" },
    errors: {},
    ...{ zone, bots, includesNow: true, name: `last ${NAMES[range]}` },
    request: { from, to: undefined, interval, zone, kinds: kindsOf(bots), asOf: undefined },
  };
}

function custom(fields: PageRange["typed"], bots: boolean, now: Date): PageRange {
  const errors: PageRange["errors"] = {};
  const read = <T>(name: RangeField, parse: (text: string) => T, message: string): T | undefined => {
    try {
      return fields[name] === "" ? undefined : parse(fields[name]);
    } catch (error) {
      if (!isRefused(error, "invalid_range")) throw error;
      errors[name] = message;
      return undefined;
    }
  };
  const asked = timeZone(fields.timezone || "UTC");
  if (!asked) errors.timezone = `There is no time zone “${fields.timezone}”. Choose one of the list.`;
  const zone = asked ?? UTC;
  const day = "This is no date. Choose one, such as 2026-11-01.";
  const from = read("from", (text) => timeOf(text, zone, "from"), day);
  const to = read("to", (text) => endOf(text, zone), day);
  const asOf = read(
    "as_of",
    (text) => asOfOf(text, zone),
    "This is no time. Choose one, such as 2026-11-01T09:30.",
  );
  if (to === undefined && from !== undefined && from >= now.getTime())
    errors.from ??= "This is still to come.";
  if (from !== undefined && to !== undefined && from >= to) errors.to = "This is before the first day.";
  return {
    ...{ choice: "custom", typed: fields, errors, zone, bots },
    includesNow: !asOf && (to === undefined || to > now.getTime()),
    name: customName(dateName(fields.from), dateName(fields.to)) + (asOf ? `, as of ${fields.as_of}` : ""),
    request:
      Object.keys(errors).length > 0
        ? undefined
        : { from, to, interval: undefined, zone, kinds: kindsOf(bots), asOf },
  };
}

/** Of the hits that a page shows. */
export function kindsOf(bots: boolean): RangeRequest["kinds"] {
  return bots ? CLICK_KINDS : PEOPLE_KINDS;
}

/** A date alone is a whole day. @throws invalid_range */
function endOf(text: string, zone: TimeZone): number {
  const moment = isDate(text) ? parseLocalMoment(text) : undefined;
  return moment ? instantOf(zone, moment.local + DAY_MS, "start") : timeOf(text, zone, "to");
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

const dates = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

function dateName(text: string): string {
  const moment = isDate(text) ? parseLocalMoment(text) : undefined;
  return moment ? dates.format(moment.local) : text;
}

function customName(from: string, to: string): string {
  if (from && to) return from === to ? from : `${from} to ${to}`;
  return from ? `since ${from}` : to ? `until ${to}` : "all time";
}

/** Of the page at `path` with the range; `changes`: to other values of the query. */
export function rangeAddress(
  path: string,
  range: PageRange,
  changes: { range?: string; bots?: boolean } = {},
): string {
  const { choice: chosen, typed: fields, bots } = range;
  const query = new URLSearchParams({ range: changes.range ?? chosen });
  const kept =
    query.get("range") === "custom"
      ? (["from", "to", "timezone", "as_of"] as const)
      : (["timezone"] as const);
  for (const name of kept) if (fields[name] !== "") query.set(name, fields[name]);
  if (changes.bots ?? bots) query.set("bots", "1");
  return `${path}?${query}`;
}

/** `asOf`: whether the page can show the numbers as they stood at a time. `end`: at the end of the bar. */
export function rangeBar(
  path: string,
  range: PageRange,
  tier: Tier,
  { asOf = false, end }: { asOf?: boolean; end?: Html | undefined } = {},
): Html {
  const all = TIER_LIMITS[tier].developerFeatures;
  const entry = (one: Range | "custom", name: string) => {
    if (!all && one !== range.choice)
      return html`<a class="locked" href="/portal/plan" title="With the Developer plan">${name}${icon("star")}<span class="visually-hidden"> (Developer plan)</span></a>`;
    const current = one === range.choice ? html`aria-current="true"` : "";
    return one === "custom"
      ? html`<a href="${customAddress(path, range)}" data-zoned ${current}>${name}</a>`
      : html`<a href="${rangeAddress(path, range, { range: one })}" ${current}>${name}</a>`;
  };
  return html`<div class="range-bar"><nav class="choices" aria-label="Time shown">${RANGES.map((one) => entry(one, NAMES[one]))}${entry("custom", "Custom")}</nav>
<a class="switch" href="${rangeAddress(path, range, { bots: !range.bots })}"><i class="switch-box" aria-hidden="true">${range.bots ? "✓" : ""}</i>Include bots<span class="visually-hidden">: ${range.bots ? "on" : "off"}</span></a>${end}</div>
${range.choice === "custom" ? customForm(path, range, asOf) : ""}`;
}

/** With the first day of the range that is shown. */
function customAddress(path: string, range: PageRange): string {
  if (range.choice === "custom" || !range.request) return rangeAddress(path, range);
  const { zone, request } = range;
  const start = request.from ?? 0;
  const from = utcDate(new Date(start + zone.offsetAt(start)));
  return rangeAddress(path, { ...range, typed: { ...range.typed, from } }, { range: "custom" });
}

function customForm(path: string, { typed: fields, errors, bots }: PageRange, asOf: boolean): Html {
  const input = (
    label: string,
    name: "from" | "to" | "as_of",
    picker: "date" | "datetime-local",
    hint: string,
  ) =>
    field({
      ...{
        label,
        name,
        hint,
        value: fields[name],
        error: errors[name],
        autocomplete: "off",
        maxlength: LONGEST,
      },
      type: pickable(picker, fields[name]) ? picker : "text",
    });
  return html`<form method="get" action="${path}" class="card" aria-label="Range of time"><input type="hidden" name="range" value="custom">
${bots ? html`<input type="hidden" name="bots" value="1">` : ""}<div class="grid grid-small">
${input("First day", "from", "date", "The beginning when empty")}
${input("Last day", "to", "date", "Today when empty")}
${choice({ label: "Time zone", name: "timezone", value: fields.timezone || "UTC", error: errors.timezone, options: zoneOptions(fields.timezone) })}
${asOf ? input("As of", "as_of", "datetime-local", "The numbers as they stood then; now when empty") : ""}</div>
<div class="actions"><button class="button button-primary">${icon("chart")}Show</button></div></form>`;
}

/** Pickers show nothing for other texts, such as those of a hand-written address. */
function pickable(picker: "date" | "datetime-local", text: string): boolean {
  if (text === "") return true;
  const hasForm = picker === "date" ? isDate(text) : /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text);
  return hasForm && parseLocalMoment(text) !== undefined;
}

/** portal.js puts the browser's first. `given`: also where the list lacks it, such as an alias. */
function zoneOptions(given: string): [string, string][] {
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  if (given !== "" && !names.includes(given)) names.unshift(given);
  return names.map((name) => [name, name.replaceAll("_", " ")]);
}

/** What `Include bots` would add. */
export function botsNote(path: string, range: PageRange, previews: number): Html | "" {
  if (range.bots || previews === 0) return "";
  return html`<p class="muted small">And ${counted(previews, "preview")} by bots: <a href="${rangeAddress(path, range, { bots: true })}">include them</a>.</p>`;
}
