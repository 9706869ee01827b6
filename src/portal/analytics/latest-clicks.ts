// The latest clicks that the filters of a page of analytics let through, as they came.
import { UNKNOWN } from "../../events/vocabulary.ts";
import type { Totals } from "../../queries/analytics/question.ts";
import type { LatestClick } from "../../queries/analytics/recent-clicks.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import { readableUrl } from "../links/urls.ts";
import { type Html, html } from "../shell/html.ts";
import { type Columns, card, table, time } from "../shell/layout.ts";
import { fileLink } from "./export-routes.ts";
import { live, METRIC_ROWS } from "./metrics.ts";
import { countryName, KIND_NAMES, plainName } from "./value-names.ts";
import { type AnalyticsView, filterAddresses } from "./view-address.ts";

const MOST = 10;

/** Newest first, within the range and of the kind that the page shows. `totals`: of the page. @throws what the stores throw */
export async function latestClicksOf(
  { logReader }: { logReader: Pick<LogReader, "latestClicks"> },
  accountId: string,
  { range: { request, zone }, filters, show }: AnalyticsView,
  totals: Totals,
  signal: AbortSignal,
): Promise<LatestClick[]> {
  const { from, to } = request ?? {};
  const { kinds } = METRIC_ROWS[show];
  const question = { accountId, filters, kinds, from, to, zone: zone.name };
  // Where there are fewer, all days would be looked through for more.
  const hits = kinds.reduce((sum, kind) => sum + totals[kind], 0);
  return await logReader.latestClicks(question, Math.min(MOST, hits), signal);
}

const columnsOf = (view: AnalyticsView, isOfLink: boolean): Columns<LatestClick> => ({
  When: ({ at }) => html`<span class="nowrap">${time(at)}</span>`,
  ...(!isOfLink && {
    Link: ({ link }) =>
      html`<a class="clip" href="${filterAddresses(view, "link")(link)}">${readableUrl(link)}</a>`,
  }),
  Kind: ({ type }) => KIND_NAMES[type].slice(0, -1),
  Place: ({ city, country }) => [...unlessUnknown(city), countryName(country)].join(", "),
  Device: ({ device }) => plainName(device),
  Browser: ({ browser, os }) => [...unlessUnknown(browser), ...unlessUnknown(os)].join(" on ") || "Unknown",
  From: ({ referrer }) =>
    html`<span class="clip" title="${referrer || "Direct"}">${referrer || "Direct"}</span>`,
});

/** `isOfLink`: all of one link. */
export function latestCard(latest: readonly LatestClick[], view: AnalyticsView, isOfLink: boolean): Html {
  const title = view.show === "preview" ? "Latest previews" : "Latest clicks";
  const none = html`<p class="muted">None in this time.</p>`;
  const shown = latest.length === 0 ? none : table(title, columnsOf(view, isOfLink), latest);
  const actions =
    view.offersAll &&
    html`<div class="actions"><span class="muted small">All clicks and previews</span>${fileLink(view, "clicks.csv", "CSV")}${fileLink(view, "clicks.ndjson", "NDJSON")}</div>`;
  return card(title, html`<div id="recent" ${live(view.range)}>${shown}</div>`, { actions });
}

function unlessUnknown(value: string): string[] {
  return value === UNKNOWN ? [] : [value];
}
