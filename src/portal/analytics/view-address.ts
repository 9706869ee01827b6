// What a page of analytics shows, read from its address and written into the addresses of its links, so that a page that
// is sent to a colleague shows the same.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { type Filters, GROUPS, type GroupBy, type Totals } from "../../queries/analytics/question.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { address } from "../shell/address.ts";
import { hiddenFields } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { signedIn, zoneOf } from "../shell/sessions.ts";
import { type PageRange, pageRange, RangeQuery } from "./shown-range.ts";

export const ANALYTICS = "/portal/analytics";
export const WHY = `${ANALYTICS}/why`;

/** What the chart and the breakdowns count: of each hit, or of people. */
export const METRICS = [
  "people",
  "visitors",
  "qr_scan",
  "preview",
] as const satisfies readonly (keyof Totals)[];
export type Metric = (typeof METRICS)[number];

/** Of an address that was written by hand; nobody has longer values, nor so many of one field. */
const [LONGEST_VALUE, MOST_VALUES] = [300, 50];

const values = z
  .union([z.string(), z.array(z.string())])
  .transform((typed) => {
    const texts = [typed].flat().map((text) => cutText(text.trim(), LONGEST_VALUE));
    return [...new Set(texts.filter((text) => text !== ""))].slice(0, MOST_VALUES);
  })
  .catch([]);

const filterSchemas = Object.fromEntries(GROUPS.map((field) => [field, values])) as Record<
  GroupBy,
  typeof values
>;

export const AnalyticsQuery = RangeQuery.extend({
  ...filterSchemas,
  show: z.enum(METRICS).catch("people"),
  /** The breakdowns that stand open, where they aren't the first of their card. */
  open: values.transform((names) => GROUPS.filter((field) => names.includes(field))),
});
type AnalyticsQuery = z.output<typeof AnalyticsQuery>;

/**
 * `path`: of the page. `offersAll`: whether its reader may choose other times, take what is shown as files, and share it.
 * `shared`: of a shared page the filters that no visitor can take away.
 */
export type AnalyticsView = {
  path: string;
  range: PageRange;
  filters: Filters;
  show: Metric;
  open: readonly string[];
  offersAll: boolean;
  shared?: Filters | undefined;
};

/** `zone`: where the address names none. */
export function viewOf(
  query: AnalyticsQuery,
  tier: Tier,
  now: Date,
  zone: string | undefined,
): AnalyticsView {
  const filtered = GROUPS.filter((field) => query[field].length > 0);
  return {
    path: ANALYTICS,
    range: pageRange(query, tier, now, zone),
    filters: Object.fromEntries(filtered.map((field) => [field, query[field]])),
    show: query.show,
    open: query.open,
    offersAll: hasDeveloperFeatures(tier),
  };
}

/** That who is signed in asks for. */
export function requestedView(request: FastifyRequest, query: AnalyticsQuery, now: Date): AnalyticsView {
  return viewOf(query, signedIn(request).tier, now, zoneOf(request));
}

type Changes = Partial<Pick<AnalyticsView, "path" | "filters" | "show" | "open">> & {
  range?: Partial<PageRange["typed"]>;
};

export function viewAddress(view: AnalyticsView, changes: Changes = {}): string {
  const { path, filters, show, open } = { ...view, ...changes };
  const shown = { show: show === "people" ? undefined : show, open };
  const narrowing = view.shared && { ...ownFilters(filters, view.shared), ...shown };
  return address(path, narrowing ?? { ...view.range.typed, ...changes.range, ...filters, ...shown });
}

/** What its address says, in a form of the page. */
export function hiddenView(view: AnalyticsView, changes?: Changes): Html {
  const [, query] = viewAddress(view, changes).split("?");
  return html`${Array.from(new URLSearchParams(query), ([name, value]) => hiddenFields({ [name]: value }))}`;
}

/** Those by which a visitor has narrowed a shared page. */
export function ownFilters(filters: Filters, shared: Filters): Filters {
  const entries = Object.entries(filters) as [GroupBy, readonly string[]][];
  return Object.fromEntries(
    entries.filter(([field, values]) => {
      const fixed = shared[field] ?? [];
      return values.length !== fixed.length || values.some((value) => !fixed.includes(value));
    }),
  );
}

/** Of the values of a field: one alone is shown of the field, or all of them again where it was. A page has a thousand of them. */
export function filterAddresses(view: AnalyticsView, field: GroupBy): (value: string) => string {
  const path = view.path === "/portal" ? ANALYTICS : view.path;
  const others = viewAddress(view, { path, filters: { ...view.filters, [field]: [] } });
  const start = `${others}${others.includes("?") ? "&" : "?"}${field}=`;
  return (value) => (view.filters[field]?.includes(value) ? others : `${start}${encodeURIComponent(value)}`);
}

/** Without one of the values that are chosen. */
export function withoutAddress(view: AnalyticsView, field: GroupBy, value: string): string {
  const rest = (view.filters[field] ?? []).filter((other) => other !== value);
  return viewAddress(view, { filters: { ...view.filters, [field]: rest } });
}
