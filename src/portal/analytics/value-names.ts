// What the values of breakdowns and filters are called on pages.
import { type ClickKind, DEVICE_TYPES, UNKNOWN } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { GroupBy } from "../../queries/analytics/question.ts";
import { capital } from "../links/link-view.ts";
import { readableUrl } from "../links/urls.ts";

/** One value of each field, and several. */
export const FIELD_NAMES: Readonly<Record<GroupBy, readonly [one: string, several: string]>> = {
  link: ["Link", "Links"],
  tag: ["Tag", "Tags"],
  domain: ["Domain", "Domains"],
  country: ["Country", "Countries"],
  region: ["Region", "Regions"],
  city: ["City", "Cities"],
  referrer: ["Referrer", "Referrers"],
  device: ["Device", "Devices"],
  browser: ["Browser", "Browsers"],
  os: ["System", "Systems"],
  language: ["Language", "Languages"],
  utm_source: ["UTM source", "UTM source"],
  utm_medium: ["UTM medium", "Medium"],
  utm_campaign: ["UTM campaign", "Campaign"],
  utm_term: ["UTM term", "Term"],
  utm_content: ["UTM content", "Content"],
  rule: ["Rule", "Rules"],
  kind: ["Kind", "Kinds"],
  hour: ["Hour", "Hours"],
  day: ["Day", "Days"],
  weekday: ["Day of the week", "Days of the week"],
  weekday_hour: ["Hour of the week", "Hours of the week"],
};

export const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
export const KIND_NAMES: Readonly<Record<ClickKind, string>> = {
  click: "Link clicks",
  qr_scan: "QR scans",
  preview: "Previews",
};

/** Within a sentence: `QR` stays. */
export function kindsInSentence(kind: ClickKind): string {
  return KIND_NAMES[kind].replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
}

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
const languages = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** Of those whose values are no words of their own. */
const NAMES: Readonly<Partial<Record<GroupBy, (value: string, link: LinkDocument | undefined) => string>>> = {
  link: readableUrl,
  country: countryName,
  region: placeName,
  city: placeName,
  language: languageName,
  referrer: (host) => (host === "direct" ? "Direct, or not said" : plainName(host)),
  device: plainName,
  browser: plainName,
  os: plainName,
  kind: (kind) => KIND_NAMES[kind as ClickKind] ?? kind,
  hour: hourName,
  weekday: weekdayName,
  weekday_hour: (value) => `${weekdayName(value.charAt(0))}, ${hourName(value.slice(2))}`,
  rule: ruleName,
};

/** `link`: whose rules they are. */
export function valueName(field: GroupBy, value: string, link?: LinkDocument): string {
  return NAMES[field]?.(value, link) ?? value;
}

function hourName(hour: string): string {
  return `${hour}:00 to ${hour}:59`;
}

function weekdayName(day: string): string {
  return WEEKDAYS[Number(day) - 1] ?? day;
}

/** `FR` becomes `France`; other values are not country codes and go through `plainName`. */
export function countryName(code: string): string {
  return (/^[A-Z]{2}$/.test(code) && regions.of(code)) || plainName(code);
}

/** `Paris, FR` becomes `Paris, France`. */
function placeName(place: string): string {
  const [, name, code] = /^(.*), ([A-Z]{2})$/.exec(place) ?? [];
  return name !== undefined && code !== undefined ? `${name}, ${countryName(code)}` : plainName(place);
}

function languageName(tag: string): string {
  if (tag === UNKNOWN) return plainName(tag);
  try {
    return languages.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

function ruleName(id: string, link: LinkDocument | undefined): string {
  if (id === "none") return "None of them";
  const index = link?.rules?.findIndex((rule) => rule.id === id) ?? -1;
  if (index === -1) return link ? `Removed rule ${id}` : id;
  return link?.rules?.[index]?.name ?? `Rule ${index + 1}`;
}

/** Names that are ours begin with a capital. */
export function plainName(value: string): string {
  return DEVICE_TYPES.some((type) => type === value) ? capital(value) : value;
}
