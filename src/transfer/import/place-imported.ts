// Where an imported link goes, and what is there of its source.
import { hash } from "node:crypto";
import type { OpenAccount } from "../../commands/account/account.ts";
import type { CommandContext } from "../../commands/caller.ts";
import type { AcceptUrlDeps } from "../../commands/links/accept-url.ts";
import type { AppendLinkDeps } from "../../commands/links/append-link.ts";
import type { DeriveSlug } from "../../commands/links/derived-identity.ts";
import { slugTaken } from "../../commands/links/link.ts";
import { firstOfLink, type LinkPlace } from "../../commands/links/link-stream.ts";
import { acceptCustomSlug, acceptImportedSlug } from "../../commands/links/slug.ts";
import { Refused } from "../../commands/refusals.ts";
import type { LinkRule } from "../../events/link-options.ts";
import { linkKey } from "../../events/streams.ts";
import type { LinkTarget } from "../../redirect/clicks/hit.ts";
import { timeOrderedId } from "../../runtime/time-ordered-id.ts";
import type { ImportedLink } from "./imported.ts";

export type ImportLinkDeps = AcceptUrlDeps & AppendLinkDeps & { derivedSlug: DeriveSlug };

/**
 * `domain`: where all links go; `keyId`: the API key that they are attributed to. `byOwner`: present where the account's owner
 * imports, who chooses slugs and domains by the rules of new links; rows without a slug are one link where all of them is
 * equal, or with `isOneEachDestination` where the destination is, as in other imports.
 */
export type ImportTarget = {
  account: OpenAccount;
  context: CommandContext;
  domain: string | undefined;
  keyId: string | undefined;
  dryRun: boolean;
  byOwner?: { baseHostSlugs: boolean; isOneEachDestination: boolean };
};

/**
 * What earlier links of the import have, also while nothing is written, or no service shows what was. `links`: by
 * link key, as slugs that differ in case alone are one here, with what the file calls the link. `externalIds`:
 * with the link's key.
 */
export type ClaimedLinks = {
  links: Map<string, { source: string; longUrl: string; link: TargetLink }>;
  externalIds: Map<string, string>;
};

/** Where a link led at one of its revisions: by none of its rules, and by each. */
type Destinations = { longUrl: string; rules: readonly LinkRule[] };

/** What the link's clicks have in common. `destinations`: of each of its revisions, from 0 on. */
export type TargetLink = Omit<LinkTarget, "revision" | "longUrl" | "rule"> & {
  host: string;
  destinations: readonly Destinations[];
};

export type IdOf = (at: string, n: number, type: string) => string;

/**
 * To `--domain`, else to the account's own domain of that name; to the base host where the file names none, or that one.
 * @throws invalid_domain
 */
function placeOf(
  { baseHost, baseUrl }: ImportLinkDeps,
  { account, domain, byOwner }: ImportTarget,
  imported: ImportedLink,
): LinkPlace {
  const hostname = domain ?? imported.domain ?? baseHost;
  if (hostname === baseHost) return { host: baseHost, origin: baseUrl };
  const own = account.domains.get(hostname);
  if (own?.state === "active")
    return { host: own.hostname, origin: `https://${own.hostname}`, domainId: own.domainId };
  const elsewhere = byOwner ? "" : `, or say by --domain where all links go, such as ${baseHost}`;
  throw new Refused(
    "invalid_domain",
    `${hostname} is no active domain of the account: add and verify it first${elsewhere}`,
  );
}

/**
 * Where the link is, or will be, and what is there of its source. One without a slug takes the first of its derived ones that
 * nothing else has. @throws slug_taken, invalid_slug, invalid_domain
 */
export async function placeImported(
  deps: ImportLinkDeps,
  target: ImportTarget,
  format: string,
  { links }: ClaimedLinks,
  imported: ImportedLink,
) {
  const {
    account: { accountId },
    byOwner,
  } = target;
  const place = placeOf(deps, target, imported);
  const { host, domainId } = place;
  const { longUrl, fields } = imported;
  const isEach = byOwner?.isOneEachDestination ?? true;
  const identity = isEach ? [longUrl, fields?.external_id ?? null] : [imported];
  const scope = JSON.stringify([accountId, host, ...identity]);
  for (let attempt = 1; ; attempt++) {
    const wantedSlug = imported.slug ?? deps.derivedSlug(`import ${scope}`, attempt);
    const onBaseHost = domainId === undefined;
    if (byOwner && onBaseHost && imported.slug !== undefined && !byOwner.baseHostSlugs)
      throw new Refused(
        "custom_slug_needs_domain",
        "A slug of your own needs one of your domains: name it as domain, or ask the operator of this service to set BASE_HOST_SLUGS=true",
      );
    const slug = byOwner
      ? acceptCustomSlug(wantedSlug, onBaseHost)
      : acceptImportedSlug(wantedSlug, onBaseHost);
    const key = linkKey(host, slug);
    const source = sourceOf(format, imported, wantedSlug);
    const idOf: IdOf = (at, n, type) => derivedTimeId(at, "link", accountId, source, host, slug, n, type);
    const earlier = links.get(key);
    const first = earlier ? undefined : await firstOfLink(deps, { host, slug });
    const isOthers = earlier ? earlier.source !== source : first !== undefined && !isOfSource(first, idOf);
    if (!isOthers) return { place, slug, key, source, earlier, first, idOf };
    if (imported.slug !== undefined) throw takenByAnother(host, slug);
  }
}

/** By what its time doesn't change, as that may be the import's own. */
export function isOfSource(first: { id: string } | undefined, idOf: IdOf): boolean {
  return first?.id.slice(14) === idOf("1970-01-01T00:00:00Z", 0, "LinkCreated").slice(14);
}

/** Sorts by time, as ids of the log do; the same for the same parts. */
export function derivedTimeId(at: string, ...parts: readonly (string | number)[]): string {
  return timeOrderedId(Date.parse(at), hash("sha256", JSON.stringify(parts)).slice(0, 20));
}

/**
 * Names the link at its source, so that another link that wants the same slug here is not taken for it. Where
 * files don't say which host served it, it is told from those of other instances by when it was made.
 */
function sourceOf(format: string, { domain, site, createdAt }: ImportedLink, slug: string): string {
  return JSON.stringify([format, domain ?? site ?? createdAt?.slice(0, 19) ?? "", slug]);
}

export function takenByAnother(host: string, slug: string): Refused {
  const { message } = slugTaken(host, slug);
  return new Refused("slug_taken", `${message}: made here, or imported as another link`);
}
