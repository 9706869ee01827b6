// The latest clicks of one link, as they came.
import type { ClickKind } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { RecentClick } from "../../queries/analytics/recent-clicks.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import { type Html, html } from "../shell/html.ts";
import { type Columns, card, table, time } from "../shell/parts.ts";
import { countryName, plainName } from "./value-names.ts";
import type { AnalyticsView, Metric } from "./view-address.ts";

const KINDS: Readonly<Record<Metric, readonly ClickKind[]>> = {
  people: ["click", "qr_scan"],
  visitors: ["click", "qr_scan"],
  qr_scan: ["qr_scan"],
  preview: ["preview"],
};

/** Newest first, within the range and of the kind that the page shows. @throws what the stores throw */
export async function recentClicksOf(
  { logReader }: { logReader: Pick<LogReader, "recentClicks"> },
  { accountId, _id }: LinkDocument,
  { range: { request }, show }: AnalyticsView,
  signal: AbortSignal,
): Promise<RecentClick[]> {
  const { from, to } = request ?? {};
  return await logReader.recentClicks(accountId, _id, { from, to, kinds: KINDS[show] }, signal);
}

const NAMES: Readonly<Record<ClickKind, string>> = {
  click: "Link click",
  qr_scan: "QR scan",
  preview: "Preview",
};

const COLUMNS: Columns<RecentClick> = {
  When: ({ at }) => html`<span class="nowrap">${time(at)}</span>`,
  Kind: ({ type }) => NAMES[type],
  Place: ({ city, country }) => [...known(city), countryName(country)].join(", "),
  Device: ({ device }) => plainName(device),
  Browser: ({ browser, os }) => [...known(browser), ...known(os)].join(" on ") || "Unknown",
  From: ({ referrer }) =>
    html`<span class="clip" title="${referrer || "Direct"}">${referrer || "Direct"}</span>`,
};

/** `actions`: beside the card's title. `live`: what keeps it up to date. */
export function recentCard(
  recent: readonly RecentClick[],
  show: Metric,
  live: Html | false,
  actions: Html | false,
): Html {
  const title = show === "preview" ? "Latest previews" : "Latest clicks";
  const none = html`<p class="muted">None in this time.</p>`;
  const shown = recent.length === 0 ? none : table(title, COLUMNS, recent);
  return card(title, html`<div id="recent" ${live}>${shown}</div>`, { actions });
}

function known(value: string): string[] {
  return value === "unknown" ? [] : [value];
}
