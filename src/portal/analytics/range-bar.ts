// The range of time that a page of analytics shows, read from its address, and the bar that chooses it by links and a
// form, so that it works without scripts. More than 24 hours needs the Developer tier.
import { z } from "zod";
import { CLICK_KINDS, hasDeveloperFeatures, PEOPLE_KINDS, type Tier } from "../../events/vocabulary.ts";
import { CLOCK_DIFFERENCE_MS } from "../../queries/analytics/analytics.ts";
import { startBack } from "../../queries/analytics/intervals.ts";
import { asOfOf, type RangeRequest, timeOf } from "../../queries/analytics/range.ts";
import { DAY_MS, instantOf, type TimeZone, timeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { type LocalMoment, parseLocalMoment, utcDate } from "../../runtime/moment.ts";
import { isRefused } from "../../runtime/refused.ts";
import { counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { choice, field } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { hiddenFields } from "../shell/parts.ts";

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
/** Of numbers that the log was read for: few enough in an hour for the limit of such reads, also of two pages. */
const LOG_REFRESH_MS = 15_000;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** What a `datetime-local` shows. */
const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;
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
type Fields = Omit<RangeQuery, "range" | "bots">;
const EMPTY: Fields = { from: "", to: "", timezone: "", as_of: "" };

/**
 * `typed`: as it stands in the form. `request`: undefined when a field can't be read. `includesNow`: later clicks will be in
 * it. `name`: such as `last 7 days`. `isLogRead`: documents alone did not answer it.
 */
export type PageRange = {
  choice: Range | "custom";
  typed: Fields;
  errors: Partial<Fields>;
  zone: TimeZone;
  request: RangeRequest | undefined;
  bots: boolean;
  includesNow: boolean;
  name: string;
  isLogRead?: boolean;
};

/** The range that the query asks for if the tier allows it, else the last 24 hours. */
export function pageRange(query: RangeQuery, tier: Tier, now: Date): PageRange {
  const { range, bots: given, ...fields } = query;
  const bots = given !== undefined;
  if (!hasDeveloperFeatures(tier)) return named("24h", "", bots, now);
  const isCustom = range === "custom" || (!range && (fields.from || fields.to || fields.as_of) !== "");
  return isCustom ? custom(fields, bots, now) : named(range ?? "7d", fields.timezone, bots, now);
}

/** What is asked of the range; without an answer the range has errors, which stand beside the field that must change. */
export async function answerTo<Answer>(
  range: PageRange,
  ask: (request: RangeRequest) => Promise<Answer>,
): Promise<{ range: PageRange; found?: Answer }> {
  const { request } = range;
  if (!request) return { range };
  const refused = (errors: PageRange["errors"]) => ({ range: { ...range, errors } });
  try {
    return { range, found: await ask(request) };
  } catch (error) {
    if (isRefused(error, "not_found")) return refused({ as_of: "The link did not exist then." });
    if (isRefused(error, "invalid_position")) return refused({ as_of: error.message });
    if (!isRefused(error, "invalid_range")) throw error;
    if (request.from === undefined && !range.includesNow) return refused({ to: "The link was made later." });
    // More than 400 points, even by months.
    const name = range.typed.to !== "" && range.includesNow ? "to" : "from";
    return refused({ [name]: "At most 33 years can be shown." });
  }
}

function named(range: Range, given: string, bots: boolean, now: Date): PageRange {
  const asked = timeZone(given);
  const zone = asked ?? UTC;
  const { interval, points, name } = NAMED[range];
  const from = startBack(zone, interval, now.getTime(), points - 1);
  return {
    choice: range,
    typed: { ...EMPTY, timezone: asked ? given : "" },
    errors: {},
    zone,
    bots,
    includesNow: true,
    name: `last ${name}`,
    request: { from, to: undefined, interval, zone, kinds: kindsOf(bots), asOf: undefined },
  };
}

const STILL_TO_COME = "This is still to come.";

/** Of whole days. */
function custom(fields: Fields, bots: boolean, now: Date): PageRange {
  const errors: PageRange["errors"] = {};
  const read = <T>(name: keyof Fields, parse: (text: string) => T | undefined, message: string) => {
    if (fields[name] === "") return undefined;
    const found = parse(fields[name]);
    if (found === undefined) errors[name] = message;
    return found;
  };
  const noZone = `There is no time zone “${fields.timezone}”. Choose one of the list.`;
  const noDate = "This is no date. Choose one, such as 2026-11-01.";
  const noTime = "This is no time. Choose one, such as 2026-11-01T09:30.";
  const zone = read("timezone", timeZone, noZone) ?? UTC;
  const first = read("from", dayOf, noDate);
  const last = read("to", dayOf, noDate);
  const asOf = read("as_of", (text) => asOfIn(text, zone), noTime);
  const from = first && timeOf(fields.from, zone, "from");
  const to = last && instantOf(zone, last.local + DAY_MS, "start");
  if (to === undefined && from !== undefined && from >= now.getTime()) errors.from ??= STILL_TO_COME;
  if (from !== undefined && to !== undefined && from >= to) errors.to = "This is before the first day.";
  if (asOf && "time" in asOf && asOf.time > now.getTime() + CLOCK_DIFFERENCE_MS) errors.as_of = STILL_TO_COME;
  const isReadable = Object.keys(errors).length === 0;
  return {
    choice: "custom",
    typed: fields,
    errors,
    zone,
    bots,
    includesNow: !asOf && (to === undefined || to > now.getTime()),
    name: customName(first, last) + (asOf ? `, as of ${fields.as_of}` : ""),
    request: isReadable ? { from, to, interval: undefined, zone, kinds: kindsOf(bots), asOf } : undefined,
  };
}

/** Of the hits that a page shows. */
function kindsOf(bots: boolean): RangeRequest["kinds"] {
  return bots ? CLICK_KINDS : PEOPLE_KINDS;
}

/** Also a position of the log, as the API takes it. */
function asOfIn(text: string, zone: TimeZone): RangeRequest["asOf"] {
  try {
    return asOfOf(text, zone);
  } catch (error) {
    if (!isRefused(error, "invalid_range")) throw error;
    return undefined;
  }
}

function dayOf(text: string): LocalMoment | undefined {
  return DATE.test(text) ? parseLocalMoment(text) : undefined;
}

const dates = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

function customName(first: LocalMoment | undefined, last: LocalMoment | undefined): string {
  const [from, to] = [first, last].map((day) => day && dates.format(day.local));
  if (from && to) return from === to ? from : `${from} to ${to}`;
  return from ? `since ${from}` : to ? `until ${to}` : "all time";
}

/** Of the page at `path` with the range. */
export function rangeAddress(
  path: string,
  shown: PageRange,
  changes: Partial<Pick<PageRange, "choice" | "typed" | "bots">> = {},
): string {
  const { choice: range, typed: fields, bots } = { ...shown, ...changes };
  const { timezone, ...days } = fields;
  return address(path, { range, ...(range === "custom" && days), timezone, bots: bots ? 1 : undefined });
}

/** `asOf`: whether the page can show the numbers as they stood at a time. `end`: at the end of the bar. */
export function rangeBar(
  path: string,
  range: PageRange,
  tier: Tier,
  { asOf = false, end }: { asOf?: boolean; end?: HtmlValue } = {},
): Html {
  const all = hasDeveloperFeatures(tier);
  const entry = (one: Range | "custom", name: string) => {
    if (!all && one !== range.choice)
      return html`<a class="locked" href="/portal/plan" title="With the Developer plan">${name}${icon("star")}<span class="visually-hidden"> (Developer plan)</span></a>`;
    const isCustom = one === "custom";
    const address = isCustom ? customAddress(path, range) : rangeAddress(path, range, { choice: one });
    return html`<a href="${address}" ${isCustom && html`data-zoned`} ${one === range.choice && html`aria-current="true"`}>${name}</a>`;
  };
  return html`<div class="range-bar"><nav class="choices" aria-label="Time shown">${RANGES.map((one) => entry(one, NAMED[one].name))}${entry("custom", "Custom")}</nav>
<a class="switch" href="${rangeAddress(path, range, { bots: !range.bots })}"><i class="switch-box" aria-hidden="true">${range.bots ? "✓" : ""}</i>Include bots<span class="visually-hidden">: ${range.bots ? "on" : "off"}</span></a>${end}</div>
${range.choice === "custom" && customForm(path, range, asOf)}`;
}

/** With the first day of the range that is shown. */
function customAddress(path: string, range: PageRange): string {
  const { zone, request, typed: fields } = range;
  if (range.choice === "custom" || request?.from === undefined) return rangeAddress(path, range);
  const from = utcDate(new Date(request.from + zone.offsetAt(request.from)));
  return rangeAddress(path, range, { choice: "custom", typed: { ...fields, from } });
}

function customForm(path: string, { typed: fields, errors, bots }: PageRange, asOf: boolean): Html {
  const input = (label: string, name: "from" | "to" | "as_of", hint: string) => {
    const [picker, form] =
      name === "as_of" ? (["datetime-local", MINUTE] as const) : (["date", DATE] as const);
    const text = fields[name];
    // A picker shows nothing for another text, such as of an address written by hand, and would send nothing.
    const isShown = text === "" || (form.test(text) && parseLocalMoment(text) !== undefined);
    return field({
      label,
      name,
      hint,
      value: text,
      error: errors[name],
      type: isShown ? picker : "text",
      autocomplete: "off",
      maxlength: LONGEST,
    });
  };
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  // An alias, or a zone that there isn't.
  if (fields.timezone !== "" && !zones.includes(fields.timezone)) zones.unshift(fields.timezone);
  const zone = {
    label: "Time zone",
    name: "timezone",
    value: fields.timezone || "UTC",
    error: errors.timezone,
    options: zones.map((name) => [name, name.replaceAll("_", " ")] as const),
  };
  return html`<form method="get" action="${path}" class="card" aria-label="Range of time">${hiddenFields({ range: "custom", bots: bots ? "1" : undefined })}
<div class="grid grid-small">${input("First day", "from", "The beginning when empty")}
${input("Last day", "to", "Today when empty")}
${choice(zone)}
${asOf && input("As of", "as_of", "The numbers as they stood then; now when empty")}</div>
<div class="actions"><button class="button button-primary">${icon("chart")}Show</button></div></form>`;
}

/** On the parts of a page that console.js keeps up to date. */
export function live({ includesNow, isLogRead }: PageRange): Html | false {
  return includesNow && html`data-live data-busy="${isLogRead ? LOG_REFRESH_MS : REFRESH_MS}"`;
}

/** What `Include bots` would add. */
export function botsNote(path: string, range: PageRange, previews: number): Html | false {
  const all = html`<a href="${rangeAddress(path, range, { bots: true })}">include them</a>`;
  const isAny = !range.bots && previews > 0;
  return isAny && html`<p class="muted small">And ${counted(previews, "preview")} by bots: ${all}.</p>`;
}
