// find_existing: a live link of the account that leads alike and carries the same (fingerprintOf) is answered instead of a new
// one. Documents tell of links made before the request. Requests at the same time make theirs at the same slug, which is
// derived from the fingerprint: one append succeeds there, and the others find its link.

import { fingerprintOf } from "../../events/link-options.ts";
import type { CommandDeps } from "../handle-command.ts";
import type { DeriveSlug } from "./derived-identity.ts";
import { type ExistingLink, freeLink, type LinkState } from "./link.ts";
import { currentLink, type LinkAddress } from "./link-stream.ts";

/** By the documents, which hold every link that was made or changed before the call. */
export type LinksWithFingerprint = (fingerprint: string) => Promise<LinkAddress[]>;

export type FindExistingDeps = Pick<CommandDeps, "eventStore"> & {
  linksWithFingerprint: LinksWithFingerprint;
  derivedSlug: DeriveSlug;
};

export function isSame(link: LinkState, fingerprint: string): link is ExistingLink {
  if (link.status !== "live" || link.block) return false;
  const isUsedUp = link.maxClicks !== undefined && link.noted?.maxClicks === link.maxClicks;
  return !isUsedUp && fingerprintOf(link) === fingerprint;
}

/** The link that there is, or the slug on `host` at which it is made. @throws links_behind */
export async function findExisting(
  { eventStore, linksWithFingerprint, derivedSlug }: FindExistingDeps,
  host: string,
  fingerprint: string,
): Promise<{ link: ExistingLink } | { slug: string }> {
  for (const address of await linksWithFingerprint(fingerprint)) {
    const link = await currentLink(eventStore, address);
    if (isSame(link, fingerprint)) return { link };
  }
  const slugAt = (n: number) => derivedSlug(`find_existing ${fingerprint}`, n);
  const linkAt = (n: number) => currentLink(eventStore, { host, slug: slugAt(n) });
  const n = await firstFree(async (n) => (await linkAt(n)).status === "free");
  // The last one was made after the documents were asked, or has been changed since.
  const last = n === 0 ? freeLink : await linkAt(n - 1);
  return isSame(last, fingerprint) ? { link: last } : { slug: slugAt(n) };
}

/** Slugs are used in their order, and stay in use when their links are changed or deleted. */
async function firstFree(isFree: (n: number) => Promise<boolean>): Promise<number> {
  let [used, free] = [-1, 0];
  while (!(await isFree(free))) [used, free] = [free, 2 * free + 1];
  while (free - used > 1) {
    const middle = Math.floor((used + free) / 2);
    if (await isFree(middle)) free = middle;
    else used = middle;
  }
  return free;
}
