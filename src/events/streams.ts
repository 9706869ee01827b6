// Names of streams, written once: the part before the first `-` is the category that subscriptions filter on.

/** Prefixes to subscribe to; each ends in `-`, so `link-` never takes in another category. */
export const PREFIX = { account: "account-", domain: "domain-", link: "link-", clicks: "clicks-" } as const;

export function accountStream(accountId: string): string {
  return `${PREFIX.account}${accountId}`;
}

/** `hostname`: lower-case A-label form. */
export function domainStream(hostname: string): string {
  return `${PREFIX.domain}${hostname}`;
}

/** A link's identity everywhere: `<host>/<slug>`, host without port; both lower case, as slugs ignore case. */
export function linkKey(host: string, slug: string): string {
  return `${host.toLowerCase()}/${slug.toLowerCase()}`;
}

export function linkStream(host: string, slug: string): string {
  return `${PREFIX.link}${linkKey(host, slug)}`;
}

/** One writer's clicks of one UTC day: a single writer makes an exact expected revision possible (DESIGN §3). */
export function clickStream(writer: string, at: Date): string {
  return `${PREFIX.clicks}${writer}-${at.toISOString().slice(0, 10).replaceAll("-", "")}`;
}
