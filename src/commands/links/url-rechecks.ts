// Links that were accepted while the safety check was unavailable: stored as secrets until jobs/url-rechecks.ts has
// checked them.
import { hash } from "node:crypto";
import type { Secrets } from "../../secrets/port.ts";

/**
 * `since`: ISO 8601 UTC. `longUrl`: the unchecked URL; the link may have been retargeted since, or never been created.
 */
export type UrlRecheck = { host: string; slug: string; longUrl: string; since: string };

/** Called before the append, so that a crash in between leaves a recheck without a link, not an unchecked link. */
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

/** Includes the URL, so that the result for an earlier URL does not settle the recheck of a later one. */
function keyOf({ host, slug, longUrl }: Omit<UrlRecheck, "since">): string {
  const urlHash = hash("sha256", longUrl).slice(0, 32);
  return `${PREFIX}${host}/${slug}/${urlHash}`;
}
