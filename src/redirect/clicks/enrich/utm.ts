// Extracts UTM fields from a query string; a hit takes the short URL's query first, then the long URL's.
import { cleanText } from "../../../events/classification/clean-text.ts";
import { UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";

export type Utm = Partial<Record<UtmField, string>>;

const MAX_LENGTH = 128;

/** `query`: without `?`. Exact names `utm_<field>`, first value, trimmed; empty values are omitted. */
export function utmOf(query: string): Utm {
  const utm: Utm = {};
  if (!query.includes("utm_")) return utm;
  const parameters = new URLSearchParams(query);
  for (const field of UTM_FIELDS) {
    const value = cleanText(parameters.get(`utm_${field}`) ?? "", MAX_LENGTH);
    if (value !== "") utm[field] = value;
  }
  return utm;
}

/** Query string of an absolute URL, without `?` and fragment. */
export function queryOf(url: string): string {
  return URL.parse(url)?.search.slice(1) ?? "";
}
