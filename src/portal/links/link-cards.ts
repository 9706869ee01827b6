// Cards of one link's page: QR code, destination, disable and enable, delete, restore.
import type { LinkChangeRequest } from "../../commands/links/change-link.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { confirmed, copyable, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { LONGEST_URL, linkPath, shortName } from "./link-view.ts";

/** Notices after the changes that link-pages.ts offers as buttons. */
export const DONE = {
  disable: "The link is disabled: it answers 404 until you enable it.",
  enable: "The link works again.",
  delete: "The link is deleted. You can restore it here at any time: its slug stays yours.",
  restore: "The link is restored, as it was before it was deleted.",
} as const satisfies Record<Exclude<LinkChangeRequest["type"], "retarget">, string>;

/** A destination that was typed and refused; `error`: beside the field. */
export type DestinationGiven = { url: string | undefined; error: string | undefined };

export function shareCard(link: LinkDocument): Html {
  return html`<section class="card"><h2>Share</h2>${copyable("short-url", link.shortUrl, "the short link")}
<p class="actions"><a class="button" href="${link.shortUrl}" target="_blank" rel="noopener">${icon("external")}Open</a>
<a class="button" href="${linkPath(link, "/analytics")}">${icon("chart")}View analytics</a></p></section>`;
}

/** The QR route needs the domain's id for a link on a custom domain, as slugs are unique per host only. */
export function qrCard(link: LinkDocument): Html {
  const of = (format: string, size: number) => {
    const query = new URLSearchParams({ format, size: String(size) });
    if (link.domainId) query.set("domain_id", link.domainId);
    return `/api/qr/${encodeURIComponent(link.slug)}?${query}`;
  };
  const download = (format: string, size: number) =>
    html`<a class="button" href="${of(format, size)}" download="${link.slug}.${format}">${icon("download")}${format.toUpperCase()}</a>`;
  return html`<section class="card qr-card"><h2>QR code</h2>
<img class="qr" src="${of("svg", 256)}" width="200" height="200" alt="QR code of ${shortName(link)}">
<p class="actions">${download("svg", 512)}${download("png", 1024)}</p>
<p class="hint">Its scans count as clicks; analytics says how many they are.</p></section>`;
}

export function destinationCard(link: LinkDocument, refused?: DestinationGiven): Html {
  const url = {
    label: "Destination",
    name: "url",
    value: refused?.url ?? link.longUrl,
    error: refused?.error,
  };
  return html`<section class="card"><h2>Change the destination</h2>
<form class="form" method="post" action="${linkPath(link, "/destination")}">
${field({ ...url, required: true, maxlength: LONGEST_URL, autocomplete: "off", hint: "The short link and its QR code stay the same. From now on they lead here." })}
<div><button class="button">Save destination</button></div></form></section>`;
}

/** Instead of the cards that would be refused. */
export function blockedCard({ block, status }: LinkDocument): Html | false {
  return (
    block !== null &&
    html`<section class="card card-danger"><h2>Blocked</h2><p>The operator of this service has blocked this link${block.legal && " for a legal reason"} since ${time(block.since)}: <strong class="break">${block.reason}</strong></p>
<p class="muted">${status === "live" && "Visitors see that it is blocked. Its clicks are still counted. "}Until the operator unblocks it, it can't be enabled, restored or given another destination.</p></section>`
  );
}

export function stateCard(link: LinkDocument): Html {
  if (link.status === "disabled" && link.block)
    return html`<section class="card"><h2>Disabled</h2><p class="muted">You have disabled the link, too.</p></section>`;
  if (link.status === "disabled")
    return html`<section class="card"><h2>Disabled</h2><p class="muted">The link answers 404. Its numbers are kept.</p>
<form method="post" action="${linkPath(link, "/enable")}"><button class="button button-primary">Enable link</button></form></section>`;
  return html`<section class="card"><h2>Disable</h2><p class="muted">A disabled link answers 404 until you enable it again.</p>
<form method="post" action="${linkPath(link, "/disable")}"><button class="button">${icon("pause")}Disable link</button></form></section>`;
}

export function removalCard(link: LinkDocument): Html | false {
  if (link.status === "deleted" && link.block) return false;
  if (link.status === "deleted")
    return html`<section class="card"><h2>Restore</h2><p class="muted">Its slug is still yours: nobody else can take it. Restored, the link is what it was before it was deleted: active or disabled.</p>
<form method="post" action="${linkPath(link, "/restore")}"><button class="button button-primary">Restore link</button></form></section>`;
  return html`<section class="card card-danger"><h2>Delete</h2><p class="muted">The link and its numbers leave your lists. You can restore both at any time.</p>
<div>${confirmed(
    "Delete",
    html`<p><strong>${shortName(link)}</strong> answers 404 at once. You can restore it at any time: it stays in your list under “Deleted”.</p>`,
    html`<form method="post" action="${linkPath(link, "/delete")}"><button class="button button-danger">${icon("trash")}Delete link</button></form>`,
  )}</div></section>`;
}
