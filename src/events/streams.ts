// The names of streams: the part up to the first `-` is the category by which readers of many streams choose.
import { hostName } from "../runtime/addresses/host-name.ts";

/** What accounts, operators and auditors are shown of the log: all categories but those of seals and of its beginning. */
export const CATEGORY = {
  account: "account",
  domain: "domain",
  link: "link",
  clicks: "clicks",
  withdrawals: "withdrawals",
  gaps: "gaps",
  operator: "operator",
  person: "person",
} as const;

/** What the names of a category's streams begin with. */
export const PREFIX = Object.fromEntries(
  Object.values(CATEGORY).map((category) => [category, `${category}-`]),
) as { readonly [C in keyof typeof CATEGORY]: `${C}-` };

/** What the in-memory caches of accounts and links are invalidated by. */
export const followedStreams = { categories: [CATEGORY.account, CATEGORY.link], linkPrefix: PREFIX.link };

/** One stream for all seals; the name is its category, too. */
export const SEALS_STREAM = "seals";

/** The stream with which the log begins; the name is its category, too. */
export const LOG_STREAM = "log";

/** Of every event of the log. */
export const ALL_CATEGORIES: readonly string[] = [...Object.values(CATEGORY), SEALS_STREAM, LOG_STREAM];

export function accountStream(accountId: string): string {
  return `${PREFIX.account}${accountId}`;
}

export function personStream(personId: string): string {
  return `${PREFIX.person}${personId}`;
}

/** `hostname`: lower-case A-label form. */
export function domainStream(hostname: string): string {
  return `${PREFIX.domain}${hostname}`;
}

/** The identity of a link: `<host>/<slug>`, the host without port; both lower case, as slugs are case-insensitive. */
export function linkKey(host: string, slug: string): string {
  return `${host.toLowerCase()}/${slug.toLowerCase()}`;
}

/** What a link's key says. */
export function addressOf(key: string): { host: string; slug: string } {
  const [host = "", slug = ""] = key.split("/");
  return { host, slug };
}

export function linkStream(host: string, slug: string): string {
  return `${PREFIX.link}${linkKey(host, slug)}`;
}

/** The stream that somebody names, of a link or domain with the host as people may write it. */
export function streamNamed(text: string): string {
  const [, category, host = "", slug = ""] = /^(link-|withdrawals-|domain-)([^/]+)(\/.+)?$/.exec(text) ?? [];
  return category === undefined ? text : `${category}${hostName(host) || host}${slug.toLowerCase()}`;
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

/** Clicks that were not recorded, in one event. `id`: of that event, so that it is said once. */
export function gapStream(id: string): string {
  return `${PREFIX.gaps}${id}`;
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
