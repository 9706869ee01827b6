// What a shared page or a weekly mail counts, in words.
import type { SharedPage } from "../../commands/account/account.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { GroupBy } from "../../queries/analytics/question.ts";
import { rangesFor } from "../analytics/shown-range.ts";
import { FIELD_NAMES, valueName } from "../analytics/value-names.ts";

/** Such as `tag spring; country France or Spain`. */
export function filtersInWords(
  filters: Readonly<Record<string, readonly string[] | undefined>>,
  link?: LinkDocument,
): string {
  const parts = Object.entries(filters).map(([field, values = []]) => {
    const names = values.map((value) => valueName(field as GroupBy, value, link));
    const [name] = FIELD_NAMES[field as GroupBy] ?? [field];
    return `${name.startsWith("UTM") ? name : name.toLowerCase()} ${names.join(" or ")}`;
  });
  return parts.length === 0 ? "all links" : parts.join("; ");
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Such as `30 days`. */
export function rangeInWords({ range, from, to }: Pick<SharedPage, "range" | "from" | "to">): string {
  if (range !== "custom") return rangesFor("developer").find((known) => known.range === range)?.name ?? range;
  if (from && to) return `${from} to ${to}`;
  return from ? `Since ${from}` : to ? `Until ${to}` : "All time";
}
