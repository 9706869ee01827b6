// What the redirect keeps of a link: all that answering and recording need, worked out once.

import { linkKey } from "../../events/streams.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { type LinkTarget, type PackedTarget, packTarget } from "../clicks/hit.ts";

export type RedirectedLink = Pick<
  LinkDocument,
  "host" | "slug" | "accountId" | "longUrl" | "shortUrl" | "status" | "via" | "revision"
>;

export type LinkEntry = {
  host: string;
  status: RedirectedLink["status"];
  /** Value of the Location header: the long URL as normalised ASCII. */
  location: string;
  target: LinkTarget;
  /** `target` as hits carry it. */
  packed: PackedTarget;
};

export function linkEntry(link: RedirectedLink): LinkEntry {
  const { slug, revision, shortUrl, longUrl, accountId, via } = link;
  const target = { key: linkKey(link.host, slug), slug, revision, shortUrl, longUrl, accountId, via };
  return {
    host: link.host,
    status: link.status,
    location: headerSafe(longUrl),
    target,
    packed: packTarget(target),
  };
}

/** The URL parser percent-encodes whatever a header must not hold; what it can't read is encoded by hand. */
function headerSafe(longUrl: string): string {
  const href = URL.parse(longUrl)?.href ?? encodeURI(longUrl.toWellFormed());
  return href.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character.toWellFormed()));
}
