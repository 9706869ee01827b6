// ETag, If-Match and If-None-Match (RFC 9110, 8.8.3 and 13.1). The tag of a link is the revision of its stream.
import { Refused } from "../commands/refusals.ts";

const TAG = '(?:W/)?"[^"]*"';
const TAGS = new RegExp(`^\\s*(?:${TAG}\\s*,\\s*)*${TAG}\\s*$`);
/** A proxy that compresses an answer adds to its tag, as in `"3-gzip"`, and makes it weak: it is the same revision. */
const REVISION = /^(?:W\/)?"(0|[1-9]\d{0,8})(?:[-;:/+.][\w-]{1,20})?"$/;

/** `status`: of a link where more than its revision decides it, so that a tag is of one answer. */
export function tagOf(revision: number, status?: string): string {
  return status === undefined ? `"${revision}"` : `"${revision}-${status}"`;
}

/**
 * The revisions that If-Match accepts; undefined without it, and for `*`, which any link matches. A tag that is no revision
 * matches nothing. @throws invalid_request
 */
export function revisionsOf(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === "*") return undefined;
  // Clients send the number alone, as it stands in histories.
  if (/^\s*\d{1,9}\s*$/.test(ifMatch)) return [Number(ifMatch)];
  if (!TAGS.test(ifMatch))
    throw new Refused("invalid_request", "If-Match must be the ETag of an answer, a list of such, or *");
  return knownRevisions(ifMatch);
}

/** Whether If-None-Match says that the caller has it already. `etag`: also of what has no revision, such as an image. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const isSame = (tag: string) => tag.replace(/^W\//, "") === etag;
  return (
    tagsOf(ifNoneMatch).some(isSame) ||
    knownRevisions(ifNoneMatch).some((revision) => tagOf(revision) === etag)
  );
}

function tagsOf(header: string): string[] {
  return header.match(new RegExp(TAG, "g")) ?? [];
}

function knownRevisions(header: string): number[] {
  return tagsOf(header).flatMap((tag) => {
    const revision = REVISION.exec(tag)?.[1];
    return revision === undefined ? [] : Number(revision);
  });
}
