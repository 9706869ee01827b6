// The range of time that a page of analytics shows, read from its address, and the bar that chooses it by links and a
// form, so that it works without scripts. More than 24 hours needs the Developer tier.
import { z } from "zod";
import { CLICK_KINDS, PEOPLE_KINDS, TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import { startBack } from "../../queries/analytics/intervals.ts";
import { asOfOf, type RangeRequest, timeOf } from "../../queries/analytics/range.ts";
import {
  DAY_MS,
  instantOf,
  QUARTER_MS,
  type TimeZone,
  timeZone,
  UTC,
} from "../../queries/analytics/time-zone.ts";
import { parseLocalMoment, utcDate } from "../../runtime/moment.ts";
import { isRefused } from "../../runtime/refused.ts";
import { counted } from "../links/link-view.ts";
import { choice, field } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";

/** Each up to the present hour, day or month. */
const NAMED = {
  "24h": { name: "24 hours", interval: "hour", points: 24 },
  "7d": { name: "7 days", interval: "day", points: 7 },
  "30d": { name: "30 days", interval: "day", points: 30 },
  "12mo": { name: "12 months", interval: "month", points: 12 },
} as const;
type Range = keyof typeof NAMED;
const RANGES = Object.keys(NAMED) as Range[];

/** Few enough requests for a page that is open all day. */
const REFRESH_MS = 5_000;
const DATE = /^\d{4}-\d\d-\d\d$/;
const LONGEST = 100;
/** What can't be typed in the form counts as empty. */
const typed = z
  .string()
  .transform((text) => text.trim().slice(0, LONGEST))
  .catch("");

export const RangeQuery = z.object({
  range: z
    .enum([...RANGES, "custom"])
    .optional()
    .catch(undefined),
  from: typed,
  to: typed,
  timezone: typed,
  as_of: typed,
  bots: z.literal("1").optional().catch(undefined),
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

/** What is asked of the range; without an answer the range has errors, which stand beside the field that must change. */
export async function answerTo<Answer>(
  range: PageRange,
  ask: (request: RangeRequest) => Promise<Answer>,
): Promise<{ range: PageRange; found?: Answer }> {
  const { request } = range;
  if (!request) return { range };
  const refused = (name: RangeField, message: string) => ({
    range: { ...range, errors: { [name]: message } },
  });
  try {
    return { range, found: await ask(request) };
  } catch (error) {
    if (isRefused(error, "not_found")) return refused("as_of", "The link did not exist then.");
    if (isRefused(error, "invalid_position")) return refused("as_of", error.message);
    if (!isRefused(error, "invalid_range")) throw error;
    if (request.from === undefined && !range.includesNow) return refused("to", "The link was made later.");
    // More than 400 points, even by months.
    const name = range.typed.to !== "" && range.includesNow ? "to" : "from";
    return refused(name, "At most 33 years can be shown.");
  }
}

function named(range: Range, fields: PageRange["typed"], bots: boolean, now: Date): PageRange {
  const zone = timeZone(fields.timezone || "UTC") ?? UTC;
  const { interval, points } = NAMED[range];
  const from = startBack(zone, interval, now.getTime(), points - 1);
  const timezone = timeZone(fields.timezone) ? fields.timezone : "";
  return {
    choice: range,
    typed: { from: "", to: "", timezone, as_of: "" },
    errors: {},
    ...{ zone, bots, includesNow: true, name: `last ${NAMED[range].name}` },
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
function kindsOf(bots: boolean): RangeRequest["kinds"] {
  return bots ? CLICK_KINDS : PEOPLE_KINDS;
}

/** A date alone is a whole day. @throws invalid_range */
function endOf(text: string, zone: TimeZone): number {
  const moment = DATE.test(text) ? parseLocalMoment(text) : undefined;
  return moment ? instantOf(zone, moment.local + DAY_MS, "start") : timeOf(text, zone, "to");
}

const dates = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

function dateName(text: string): string {
  const moment = DATE.test(text) ? parseLocalMoment(text) : undefined;
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
  const isCustom = query.get("range") === "custom";
  for (const [name, text] of Object.entries(fields))
    if (text !== "" && (isCustom || name === "timezone")) query.set(name, text);
  if (changes.bots ?? bots) query.set("bots", "1");
  return `${path}?${query}`;
}

/** `asOf`: whether the page can show the numbers as they stood at a time. `end`: at the end of the bar. */
export function rangeBar(
  path: string,
  range: PageRange,
  tier: Tier,
  { asOf = false, end }: { asOf?: boolean; end?: HtmlValue } = {},
): Html {
  const all = TIER_LIMITS[tier].developerFeatures;
  const entry = (one: Range | "custom", name: string) => {
    if (!all && one !== range.choice)
      return html`<a class="locked" href="/portal/plan" title="With the Developer plan">${name}${icon("star")}<span class="visually-hidden"> (Developer plan)</span></a>`;
    const isCustom = one === "custom";
    const address = isCustom ? customAddress(path, range) : rangeAddress(path, range, { range: one });
    return html`<a href="${address}" ${isCustom && html`data-zoned`} ${one === range.choice && html`aria-current="true"`}>${name}</a>`;
  };
  return html`<div class="range-bar"><nav class="choices" aria-label="Time shown">${RANGES.map((one) => entry(one, NAMED[one].name))}${entry("custom", "Custom")}</nav>
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
  const input = (label: string, name: Exclude<RangeField, "timezone">, hint: string) =>
    field({
      ...{ label, name, hint, value: fields[name], error: errors[name] },
      ...{ type: pickerOf(name, fields[name]), autocomplete: "off", maxlength: LONGEST },
    });
  return html`<form method="get" action="${path}" class="card" aria-label="Range of time"><input type="hidden" name="range" value="custom">
${bots ? html`<input type="hidden" name="bots" value="1">` : ""}<div class="grid grid-small">
${input("First day", "from", "The beginning when empty")}
${input("Last day", "to", "Today when empty")}
${choice({ label: "Time zone", name: "timezone", value: fields.timezone || "UTC", error: errors.timezone, options: zoneOptions(fields.timezone) })}
${asOf ? input("As of", "as_of", "The numbers as they stood then; now when empty") : ""}</div>
<div class="actions"><button class="button button-primary">${icon("chart")}Show</button></div></form>`;
}

/** Pickers show nothing for other texts, such as those of a hand-written address. */
function pickerOf(name: RangeField, text: string): "date" | "datetime-local" | "text" {
  const [picker, form] =
    name === "as_of" ? (["datetime-local", /^[\d-]{10}T\d\d:\d\d$/] as const) : (["date", DATE] as const);
  return text === "" || (form.test(text) && parseLocalMoment(text)) ? picker : "text";
}

/** portal.js puts the browser's first. `given`: also where the list lacks it, such as an alias. */
function zoneOptions(given: string): [string, string][] {
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  if (given !== "" && !names.includes(given)) names.unshift(given);
  return names.map((name) => [name, name.replaceAll("_", " ")]);
}

/**
 * Whether console.js may keep a page of it up to date: not one that begins within a quarter-hour, as only an address can
 * say, as that may need a read of the log for each answer.
 */
export function goesOn({ includesNow, request }: PageRange): boolean {
  return includesNow && (request?.from ?? 0) % QUARTER_MS === 0;
}

/** On the parts of a page that console.js keeps up to date. */
export function live(range: PageRange): Html | "" {
  return goesOn(range) ? html`data-live data-busy="${REFRESH_MS}"` : "";
}

/** What `Include bots` would add. */
export function botsNote(path: string, range: PageRange, previews: number): Html | "" {
  if (range.bots || previews === 0) return "";
  return html`<p class="muted small">And ${counted(previews, "preview")} by bots: <a href="${rangeAddress(path, range, { bots: true })}">include them</a>.</p>`;
}
