// The cached form of a link: everything that the redirect and the click recorder need, computed once per link.

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
  /** `target` serialised, as hits carry it to the recorder thread. */
  packed: PackedTarget;
};

/** Approximate size in memory: texts of one byte a character, and 500 bytes of objects. */
export function bytesOf({ host, location, target, packed }: LinkEntry): number {
  return 500 + host.length + location.length + target.longUrl.length + 2 * packed.length;
}

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

/** The URL parser percent-encodes what a header must not contain; the fallback covers URLs that it rejects. */
function headerSafe(longUrl: string): string {
  const href = URL.parse(longUrl)?.href ?? encodeURI(longUrl.toWellFormed());
  return href.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character.toWellFormed()));
}
