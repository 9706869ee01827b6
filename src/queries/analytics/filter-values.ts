// What filters of clicks take, for the API and for pages: values in any case and with or without accents, hosts however they are
// written; what no click can have is refused with what is nearest.
import { tagOfLanguage } from "../../commands/links/fields/rule-languages.ts";
import { Refused } from "../../commands/refusals.ts";
import { canonicalLanguage } from "../../events/classification/languages.ts";
import { COUNTRIES } from "../../events/countries.ts";
import { folded } from "../../events/links/search-text.ts";
import { CLICK_KINDS, DEVICE_TYPES, UNKNOWN } from "../../events/vocabulary.ts";
import { hostName } from "../../runtime/addresses/host-name.ts";
import { parseDate } from "../../runtime/moment.ts";
import { closestName } from "../../runtime/text/closest-name.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { type Filters, GROUPS, type GroupBy } from "./question.ts";

/** `of`: the value that is meant; undefined for none. `nearest`: that may be meant by a text that is none. */
type FieldOfFilter = {
  must: string;
  of(text: string): string | undefined;
  nearest?(text: string): string | undefined;
};

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
const LONGEST_SHOWN = 50;

const anyText: FieldOfFilter = { must: "", of: (text) => text };

function oneOf(values: readonly string[]): FieldOfFilter {
  const of = (text: string) => {
    const wanted = folded(text).replace(/[\s-]+/g, "_");
    return values.find((value) => value === wanted);
  };
  const must = `must be one of ${values.join(", ")}`;
  return { must, of, nearest: (text) => closestName(folded(text), values) };
}

const country: FieldOfFilter = {
  must: "must be a code of two letters (ISO 3166-1), or unknown",
  of(text) {
    if (folded(text) === UNKNOWN) return UNKNOWN;
    return COUNTRIES.has(text.toUpperCase()) ? text.toUpperCase() : undefined;
  },
  nearest: closestCountry,
};

function closestCountry(text: string): string | undefined {
  if (text.length <= 3) {
    // Such as GB for UK, and US for USA.
    const [present = ""] = /^[a-z]{2}$/i.test(text) ? Intl.getCanonicalLocales(`und-${text}`) : [];
    const code = present.slice(-2) || text.slice(0, 2).toUpperCase();
    return COUNTRIES.has(code) ? code : undefined;
  }
  const codes = new Map([...COUNTRIES].map((code) => [folded(regions.of(code) ?? code), code]));
  return codes.get(closestName(folded(text), [...codes.keys()]) ?? "");
}

/** A region or city, mostly with its country, which `codeOf` finds by its code. */
function placeBy(codeOf: (text: string) => string | undefined): (text: string) => string | undefined {
  return (text) => {
    const [, name, code = ""] = /^(.*\S)\s*,\s*([a-z]{2})$/i.exec(text) ?? [];
    if (name === undefined) return text;
    const known = codeOf(code);
    return known && `${name}, ${known}`;
  };
}

const place: FieldOfFilter = {
  must: "must end with the code of its country (ISO 3166-1), such as Paris, FR",
  of: placeBy(country.of),
  nearest: placeBy(closestCountry),
};

const FIELDS: Readonly<Partial<Record<GroupBy, FieldOfFilter>>> = {
  domain: { must: "must be a host, such as go.example.org", of: (text) => hostName(text) || undefined },
  country,
  region: place,
  city: place,
  device: oneOf(DEVICE_TYPES),
  kind: oneOf(CLICK_KINDS),
  language: {
    must: "must be a language tag",
    of(text) {
      const tag = text.toLowerCase().replaceAll("_", "-");
      return tagOfLanguage(tag) === undefined ? canonicalLanguage(tag) : undefined;
    },
    nearest: tagOfLanguage,
  },
  hour: {
    must: "must be an hour, 00 to 23",
    of: (text) => /^(?:[01]?\d|2[0-3])$/.exec(text)?.[0].padStart(2, "0"),
  },
  day: {
    must: "must be a date such as 2026-11-01",
    of: (text) => (parseDate(text) === undefined ? undefined : text),
  },
  weekday: { must: "must be 1 (Monday) to 7", of: (text) => /^[1-7]$/.exec(text)?.[0] },
  weekday_hour: {
    must: "must be a day of the week, 1 (Monday) to 7, and an hour, such as 1-09",
    of: (text) => /^[1-7]-(?:[01]\d|2[0-3])$/.exec(text)?.[0],
  },
};

/**
 * As clicks have them, or as they are compared (comparable). `keyOf`: of a link of the account, by its slug, `<host>/<slug>` or address.
 * @throws invalid_request for a value that no click can have, what keyOf throws
 */
export async function acceptFilters(
  typed: { readonly [G in GroupBy]?: readonly string[] | undefined },
  keyOf: (link: string) => Promise<string>,
): Promise<Filters> {
  const accepted: [GroupBy, readonly string[]][] = [];
  for (const field of GROUPS) {
    const texts = typed[field]?.map((text) => text.trim());
    if (texts === undefined) continue;
    const values =
      field === "link"
        ? await Promise.all(texts.map(keyOf))
        : texts.map((text) => acceptedValue(field, text));
    accepted.push([field, [...new Set(values)]]);
  }
  return Object.fromEntries(accepted);
}

function acceptedValue(field: GroupBy, text: string): string {
  const { must, of, nearest } = FIELDS[field] ?? anyText;
  const value = of(text);
  if (value !== undefined) return value;
  const meant = nearest?.(text);
  const shown = cutText(text, LONGEST_SHOWN);
  throw new Refused(
    "invalid_request",
    `${field} “${shown}” ${must}${meant === undefined ? "" : `: did you mean ${meant}?`}`,
    { field },
  );
}
