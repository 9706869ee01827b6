// ETag, If-Match and If-None-Match (RFC 9110, 8.8.3 and 13.1). The tag of a link is the revision of its stream.
import { Refused } from "../runtime/refused.ts";

const TAG = '(?:W/)?"[^"]*"';
const TAGS = new RegExp(`^\\s*(?:${TAG}\\s*,\\s*)*${TAG}\\s*$`);
const REVISION = /^"(0|[1-9]\d{0,8})"$/;

export function tagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * The revisions that If-Match accepts; undefined without it, and for `*`, which any link matches. A weak tag never
 * matches, and neither does one that is no revision. @throws invalid_request
 */
export function revisionsOf(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === "*") return undefined;
  if (!TAGS.test(ifMatch))
    throw new Refused("invalid_request", "If-Match must be the ETag of an answer, a list of such, or *");
  return tagsOf(ifMatch).flatMap((tag) => {
    const revision = REVISION.exec(tag)?.[1];
    return revision === undefined ? [] : Number(revision);
  });
}

/** Whether If-None-Match says that the caller has it already. By weak comparison: caches make tags weak. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === "*" || tagsOf(ifNoneMatch).some((tag) => tag.replace(/^W\//, "") === etag);
}

function tagsOf(header: string): string[] {
  return header.match(new RegExp(TAG, "g")) ?? [];
}
