// UTM fields of a hit: the short URL's own query first, else the long URL's (DESIGN §7).
import { UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import { cleanText } from "./clean-text.ts";

export type Utm = Partial<Record<UtmField, string>>;

const MAX_LENGTH = 128;

/** Fields of one query string (without `?`): exact names `utm_<field>`, first value, trimmed; empty ones left out. */
export function utmOf(query: string): Utm {
  const found: Utm = {};
  if (!query.includes("utm_")) return found;
  const parameters = new URLSearchParams(query);
  for (const field of UTM_FIELDS) {
    const value = cleanText(parameters.get(`utm_${field}`) ?? "", MAX_LENGTH);
    if (value !== "") found[field] = value;
  }
  return found;
}

/** Query string of an absolute URL, without `?` and fragment. */
export function queryOf(url: string): string {
  return URL.parse(url)?.search.slice(1) ?? "";
}
