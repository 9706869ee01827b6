// Formatting of links and numbers that all pages share.
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { type Html, html } from "../shell/html.ts";
import { readableUrl } from "./readable-url.ts";

/** Of what is typed as a URL: longer than a link may have, so that the use case says what is wrong. */
export const LONGEST_URL = 4096;

type Named = Pick<LinkDocument, "host" | "slug">;

const whole = new Intl.NumberFormat("en");

/** With thousands separators, such as 12,345. */
export function count(number: number): string {
  return whole.format(number);
}

/** `1 link`, `2 links`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Path of a link's page; `below`: a subpath that starts with a slash. */
export function linkPath({ host, slug }: Named, below = ""): string {
  return `/portal/links/${encodeURIComponent(host)}/${encodeURIComponent(slug)}${below}`;
}

/** The short URL without its scheme, as people write it. */
export function shortName({ shortUrl }: Pick<LinkDocument, "shortUrl">): string {
  return readableUrl(shortUrl.replace(/^https?:\/\//, ""));
}

/** Whether the link's host answers: `domains` are those of its account. */
export function isServed({ host, domainId }: LinkDocument, domains: readonly DomainDocument[]): boolean {
  return domainId === null || domains.some(({ hostname, active }) => hostname === host && active);
}

/** Nothing for a link that works. `isServed`: false for one on a domain that is not active, which nobody can open. */
export function statusBadge(status: LinkDocument["status"], isServed = true): Html | "" {
  if (status === "disabled") return html`<span class="badge badge-warn">Disabled</span>`;
  if (status === "deleted") return html`<span class="badge badge-bad">Deleted</span>`;
  return isServed ? "" : html`<span class="badge badge-warn">Domain not active</span>`;
}

/** Of a link that the operator has blocked, beside its state. */
export function blockBadge({ block }: LinkDocument): Html | false {
  return block !== null && html`<span class="badge badge-bad">Blocked</span>`;
}

/** Opens in a new tab, without a referrer. `url` must be http or https, which acceptUrl ensures. */
export function outward(url: string): Html {
  return html`<a class="clip" href="${url}" rel="noreferrer noopener nofollow" target="_blank" title="${url}">${readableUrl(url)}</a>`;
}
