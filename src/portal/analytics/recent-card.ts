// Table of a link's most recent clicks; live.js prepends rows of the same shape.
import type { RecentClick } from "../../projections/definitions/recent-clicks.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { countryName, deviceName } from "./breakdowns.ts";
import { KIND_NAMES } from "./series-figure.ts";

/** Display texts of one row; live updates send the same object. */
type RecentRow = {
  at: string;
  kind: string;
  place: string;
  device: string;
  browser: string;
  referrer: string;
};

export function recentRow(click: RecentClick): RecentRow {
  const known = (value: string) => (value === "unknown" ? "" : value);
  const country = click.country === "unknown" ? "Unknown" : countryName(click.country);
  return {
    at: click.at,
    kind: KIND_NAMES[click.type].replace(/s$/, ""),
    place: known(click.city) ? `${click.city}, ${country}` : country,
    device: deviceName(click.device),
    browser: [known(click.browser), known(click.os)].filter(Boolean).join(" on ") || "Unknown",
    referrer: click.referrer || "Direct",
  };
}

/** `beside`: markup at the end of the card's title. */
export function recentCard(recent: readonly RecentClick[], withBots: boolean, beside: Html | ""): Html {
  const title = withBots ? "Recent clicks and previews" : "Recent clicks";
  return html`<section class="card"><div class="card-head"><h2>${title}</h2>${beside}</div><table class="table" id="recent"><thead><tr>${Object.values(
    COLUMNS,
  ).map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${recent.map((click) => row(recentRow(click)))}</tbody></table>${recent.length === 0 ? html`<p class="muted" id="no-recent">None in this time.</p>` : ""}</section>`;
}

const COLUMNS = {
  at: "When",
  kind: "Kind",
  place: "Place",
  device: "Device",
  browser: "Browser",
  referrer: "From",
} as const satisfies Record<keyof RecentRow, string>;

function row(shown: RecentRow): Html {
  return html`<tr><td data-label="${COLUMNS.at}" class="nowrap">${time(shown.at)}</td>${(
    ["kind", "place", "device", "browser"] as const
  ).map(
    (name) => html`<td data-label="${COLUMNS[name]}">${shown[name]}</td>`,
  )}<td data-label="${COLUMNS.referrer}"><span class="clip" title="${shown.referrer}">${shown.referrer}</span></td></tr>`;
}
