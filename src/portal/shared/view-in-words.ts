// What a shared page or a weekly mail counts, in words.
import type { SharedPage } from "../../commands/account/account.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { GroupBy } from "../../queries/analytics/question.ts";
import { type PageRange, rangesFor } from "../analytics/shown-range.ts";
import { FIELD_NAMES, valueName } from "../analytics/value-names.ts";
import { capital } from "../links/link-view.ts";

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

/** Such as `Last 7 days, tag spring`. `link`: the one whose numbers they are. */
export function viewInWords(
  range: Pick<PageRange, "name">,
  filters: Parameters<typeof filtersInWords>[0],
  link?: LinkDocument,
): string {
  return `${capital(range.name)}, ${filtersInWords(filters, link)}`;
}

/** Such as `30 days`. */
export function rangeInWords({ range, from, to }: Pick<SharedPage, "range" | "from" | "to">): string {
  if (range !== "custom") return rangesFor(true).find((named) => named.range === range)?.name ?? range;
  if (from && to) return `${from} to ${to}`;
  return from ? `Since ${from}` : to ? `Until ${to}` : "All time";
}
