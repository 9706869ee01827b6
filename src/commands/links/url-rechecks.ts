// Links whose address nobody could be asked about when they were made: noted beside the events until it is known.
import { createHash } from "node:crypto";
import type { Secrets } from "../../secrets/port.ts";

/** `since`: ISO 8601 UTC. `longUrl`: what the link was to lead to; it may lead elsewhere by now, or not be there. */
export type UrlRecheck = { host: string; slug: string; longUrl: string; since: string };

/** To be called before the link is appended: who dies in between leaves a note on nothing, not an unchecked link. */
export type RecheckLater = (link: Omit<UrlRecheck, "since">) => Promise<void>;

type Deps = { secrets: Secrets; clock: () => Date };

const PREFIX = "url-check:";

export function recheckLater({ secrets, clock }: Deps): RecheckLater {
  return async (link) => {
    const since = clock().toISOString();
    await secrets.put(keyOf(link), { value: { ...link, since } satisfies UrlRecheck });
  };
}

export async function waitingRechecks({ secrets, clock }: Deps): Promise<UrlRecheck[]> {
  return (await secrets.list(PREFIX, clock())).map(({ value }) => value as UrlRecheck);
}

export async function forgetRecheck({ secrets }: Pick<Deps, "secrets">, recheck: UrlRecheck): Promise<void> {
  await secrets.delete(keyOf(recheck));
}

/** Of link and address, so that what is known of an earlier address settles nothing for a later one. */
function keyOf({ host, slug, longUrl }: Omit<UrlRecheck, "since">): string {
  const address = createHash("sha256").update(longUrl).digest("hex").slice(0, 32);
  return `${PREFIX}${host}/${slug}/${address}`;
}
