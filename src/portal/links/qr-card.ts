// The QR code of a link on its page: to look at, to download, and to be drawn in other sizes and colours.
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { shortName } from "./link-view.ts";

const CORRECTIONS = [
  ["L", "Low: the largest squares"],
  ["M", "Medium"],
  ["Q", "High"],
  ["H", "Highest: scans with a third of it covered"],
] as const;
const FORMATS = [
  ["png", "PNG"],
  ["svg", "SVG"],
] as const;

/** The QR route needs the domain's id for a link on a custom domain, as slugs are unique per host only. */
export function qrCard(link: LinkDocument, hasLogo: boolean): Html {
  const path = `/api/qr/${encodeURIComponent(link.slug)}`;
  const domain: Record<string, string> = {
    ...(link.domainId && { domain_id: link.domainId }),
    ...(hasLogo && { logo: "true" }),
  };
  const of = (format: string, size: number) =>
    `${path}?${new URLSearchParams({ format, size: String(size), ...domain })}`;
  const download = (format: string, size: number) =>
    html`<a class="button" href="${of(format, size)}" download="${link.slug}.${format}">${icon("download")}${format.toUpperCase()}</a>`;
  return html`<section class="card qr-card" id="qr"><h2>QR code</h2>
<img class="qr" src="${of("svg", 256)}" width="200" height="200" alt="QR code of ${shortName(link)}">
<p class="actions">${download("svg", 512)}${download("png", 1024)}</p>
<p class="hint">Its scans count as clicks; analytics says how many they are. ${!hasLogo && html`<a href="/portal/account#logo">Put your logo in the middle</a>`}</p>
<details class="more-options"><summary>Size, colours and margin</summary>
<div><form class="stack" action="${path}" target="_blank">${hiddenFields(link.domainId ? { domain_id: link.domainId } : {})}<div class="grid grid-small">
${number("size", "Size in pixels", "1024", 64, 2048)}${number("margin", "Margin in squares", "4", 2, 20)}
${colour("dark", "Colour", "#000000")}${colour("light", "Background", "#ffffff")}
${!hasLogo && field({ label: "Correction", name: "ecc", id: "qr-ecc", value: "M", options: CORRECTIONS })}
${field({ label: "Format", name: "format", id: "qr-format", options: FORMATS })}</div>
${hasLogo && html`<label class="check"><input type="checkbox" name="logo" value="true" checked>Your logo in the middle</label>`}
<div><button class="button">${icon("external")}Draw it</button></div></form></div></details></section>`;
}

function number(name: string, label: string, value: string, min: number, max: number): Html {
  return field({ id: `qr-${name}`, label, name, value, type: "number", min, max, required: true });
}

function colour(name: string, label: string, value: string): Html {
  return field({ id: `qr-${name}`, label, name, value, type: "color" });
}
