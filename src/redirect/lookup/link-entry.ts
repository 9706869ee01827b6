// The cached form of a link: everything that the redirect and the click recorder need, computed once per link.
import { linkKey } from "../../events/streams.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { type PackedTarget, packTarget } from "../clicks/hit.ts";

export type RedirectedLink = Pick<
  LinkDocument,
  "host" | "slug" | "accountId" | "longUrl" | "status" | "block" | "via" | "revision"
>;

export type LinkEntry = {
  host: string;
  accountId: string;
  status: RedirectedLink["status"];
  block: RedirectedLink["block"];
  revision: number;
  /** Value of the Location header: the long URL as normalised ASCII. */
  location: string;
  /** What the link's clicks repeat of it, serialised, as hits carry it to the recorder thread. */
  packed: PackedTarget;
};

/** Approximate size in memory: texts of one byte a character, and 400 bytes of objects. */
export function bytesOf({ host, location, packed }: LinkEntry): number {
  return 400 + host.length + location.length + packed.length;
}

export function linkEntry(link: RedirectedLink): LinkEntry {
  const { host, slug, status, block, revision, longUrl, accountId, via } = link;
  const packed = packTarget({ key: linkKey(host, slug), revision, longUrl, accountId, via });
  return { host, accountId, status, block, revision, location: headerSafe(longUrl), packed };
}

/** The URL parser percent-encodes what a header must not contain; the fallback covers URLs that it rejects. */
function headerSafe(longUrl: string): string {
  const href = URL.parse(longUrl)?.href ?? encodeURI(longUrl.toWellFormed());
  return href.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character.toWellFormed()));
}
