// Formatting of links and numbers that all pages share, and the head of the pages of one link.
import { z } from "zod";
import { MAX_URL_LENGTH } from "../../commands/links/accept-url.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import type { TagColour } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { hostName } from "../../runtime/addresses/host-name.ts";
import { address } from "../shell/address.ts";
import { type Html, html, offered } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { badge, confirmedPost, copyButton, postButton } from "../shell/layout.ts";
import { readableUrl } from "./urls.ts";

/** Of what is typed as a URL: longer than a link may have, so that the use case says what is wrong. */
export const LONGEST_URL = 2 * MAX_URL_LENGTH;

/** Of the address of a link's pages, with the host as people may write it. */
export const LinkParams = z.object({
  host: z
    .string()
    .max(255)
    .transform((host) => hostName(host) || host),
  slug: z.string().max(100),
});

const whole = new Intl.NumberFormat("en");

/** With thousands separators, such as 12,345. */
export function count(number: number): string {
  return whole.format(number);
}

/** `1 link`, `2 links`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** With a capital at its start. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Path of a link's page; `below`: a subpath that starts with a slash. */
export function linkPath({ host, slug }: Pick<LinkDocument, "host" | "slug">, below = ""): string {
  return `/portal/links/${encodeURIComponent(host)}/${encodeURIComponent(slug)}${below}`;
}

/** The short URL without its scheme, as people write it. */
export function shortName({ shortUrl }: Pick<LinkDocument, "shortUrl">): string {
  return readableUrl(shortUrl.replace(/^https?:\/\//, ""));
}

export const STATUS_WORDS: Readonly<Record<LinkStatus, string>> = {
  live: "Live",
  scheduled: "Scheduled",
  expired: "Expired",
  used_up: "Used up",
  disabled: "Disabled",
  blocked: "Blocked",
  deleted: "Deleted",
  domain_inactive: "Domain not active",
};

/** Nothing for a link that works. */
export function statusBadge(status: LinkStatus): Html | "" {
  if (status === "live") return "";
  return badge(status === "blocked" || status === "deleted" ? "bad" : "warn", STATUS_WORDS[status]);
}

/** Opens in a new tab, without a referrer. `url` must be http or https, which acceptUrl ensures. */
export function outward(url: string, shown = readableUrl(url)): Html {
  return html`<a class="clip" href="${url}" rel="noreferrer noopener nofollow" target="_blank" title="${url}">${shown}</a>`;
}

/** To all links that have the tag. */
export function tagLink(tag: string, colour?: TagColour | null): Html {
  const dot =
    colour &&
    html`<svg class="dot" viewBox="0 0 2 2" fill="${DOTS[colour]}" aria-hidden="true"><circle cx="1" cy="1" r="1"/></svg>`;
  return html`<a class="badge" href="${address("/portal/links", { tag })}">${dot}<span class="clip">${tag}</span></a>`;
}

const DOTS: Readonly<Record<TagColour, string>> = {
  red: "#d03b44",
  orange: "#d97218",
  yellow: "#c9a20a",
  green: "#2c9a55",
  teal: "#159a94",
  blue: "#2f7de1",
  purple: "#8a55d8",
  pink: "#d24d95",
};

/** Where its numbers are. */
export function analyticsOf({ host, slug }: Pick<LinkDocument, "host" | "slug">): string {
  return address("/portal/analytics", { link: `${host}/${slug}` });
}

const PLACES = { Link: linkPath, Analytics: analyticsOf };

/** What the link is called and where it is, what can be done with it, and its pages. */
export function linkHead(link: LinkDocument, status: LinkStatus, current: keyof typeof PLACES): Html {
  const { shortUrl, deleted } = link;
  const places = Object.entries(PLACES).map(
    ([name, addressOf]) =>
      html`<a href="${addressOf(link)}" ${name === current && html`aria-current="page"`}>${name}</a>`,
  );
  return html`<div class="page-head link-head"><div class="link-title"><p class="small"><a href="/portal/links">Links</a></p>
<h1>${link.title ?? shortName(link)} ${statusBadge(status)}</h1>
<p class="short-line"><a id="short-url" class="break" href="${shortUrl}" target="_blank" rel="noopener">${shortUrl}</a>${!deleted && copyButton("short-url", "the short link")}</p>
<p class="muted leads-to">leads to ${outward(link.longUrl)}</p></div>
<div class="actions">${!deleted && html`<a class="button" href="${linkPath(link)}#qr">${icon("qr")}QR code</a>${!link.block && offered(linkPath(link, "/edit"), html`<a class="button" href="${linkPath(link)}#edit">Edit</a>`)}${menu(link)}`}
<nav class="choices" aria-label="Pages of this link">${places}</nav></div></div>`;
}

/** What is done to a link as a whole; opens without scripts. */
function menu(link: LinkDocument): Html {
  const { disabled, block } = link;
  const enable = !block && postButton(linkPath(link, "/enable"), "Enable link");
  const disable = postButton(linkPath(link, "/disable"), html`${icon("pause")}Disable link`);
  const question = html`<strong>${shortName(link)}</strong> answers 404 at once, and leaves your lists with its numbers. You can restore both at any time: it stays under “Deleted”.`;
  const remove = confirmedPost(
    "Delete",
    question,
    linkPath(link, "/delete"),
    html`${icon("trash")}Delete link`,
  );
  return html`<details class="menu"><summary class="button">More</summary>
<div class="menu-box">${disabled ? enable : disable}<a class="button" href="${linkPath(link, "/explain")}">Explain</a>${remove}</div></details>`;
}
