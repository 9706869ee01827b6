// Heading of the pages of one link: name, state, and navigation between them.
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { type Html, html } from "../shell/html.ts";
import { blockBadge, linkPath, outward, shortName, statusBadge } from "./link-view.ts";

const PLACES = [
  { name: "Link", below: "" },
  { name: "Analytics", below: "/analytics" },
] as const;

export function linkHead(link: LinkDocument, current: (typeof PLACES)[number]["name"]): Html {
  return html`<div class="page-head"><div class="link-title"><p class="small"><a href="/portal/links">Links</a></p>
<h1>${shortName(link)} ${blockBadge(link)} ${statusBadge(link.status)}</h1>
<p class="muted leads-to">Destination: ${outward(link.longUrl)}</p></div>
<nav class="choices" aria-label="Pages of this link">${PLACES.map(
    ({ name, below }) =>
      html`<a href="${linkPath(link, below)}" ${name === current ? html`aria-current="page"` : ""}>${name}</a>`,
  )}</nav></div>`;
}
