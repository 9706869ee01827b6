// The names of streams: the part up to the first `-` is the prefix by which subscriptions filter.

/** Prefixes for subscriptions; each ends in `-`, so that none is the beginning of another. */
export const PREFIX = {
  account: "account-",
  domain: "domain-",
  link: "link-",
  clicks: "clicks-",
  withdrawals: "withdrawals-",
  operator: "operator-",
} as const;

/** One stream for all seals; without a dash, as no subscription filters by it. */
export const SEALS_STREAM = "seals";

/** The name's first part; `seals` for the one stream without a second. */
export function categoryOf(stream: string): string {
  return stream.split("-", 1)[0] as string;
}

export function accountStream(accountId: string): string {
  return `${PREFIX.account}${accountId}`;
}

/** `hostname`: lower-case A-label form. */
export function domainStream(hostname: string): string {
  return `${PREFIX.domain}${hostname}`;
}

/** The identity of a link: `<host>/<slug>`, the host without port; both lower case, as slugs are case-insensitive. */
export function linkKey(host: string, slug: string): string {
  return `${host.toLowerCase()}/${slug.toLowerCase()}`;
}

export function linkStream(host: string, slug: string): string {
  return `${PREFIX.link}${linkKey(host, slug)}`;
}

/**
 * Which clicks of a link don't count. Apart from the link's own stream, so that a projection of clicks reads no links for
 * it, and all withdrawals are found without reading all links. `link`: its key.
 */
export function withdrawalStream(link: string): string {
  return `${PREFIX.withdrawals}${link}`;
}

/** Clicks of one writer and UTC day; with a single writer every append can expect an exact revision. */
export function clickStream(writer: string, at: Date): string {
  return `${PREFIX.clicks}${writer}-${at.toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** What the operator did in a month (UTC), so that no stream grows without bound. */
export function operatorStream(at: Date): string {
  return `${PREFIX.operator}${at.toISOString().slice(0, 7).replace("-", "")}`;
}

/** Begins the names of writers of imported clicks; those of recorders are hex digits. */
export const IMPORT_WRITER = "import";

/** Whether the click happened at another service, and was imported. */
export function isImportedClick(stream: string): boolean {
  return stream.startsWith(`${PREFIX.clicks}${IMPORT_WRITER}`);
}
