// What a click's event says without repeating it: what follows from other members, and what an absent member means.
import type { LinkClicked } from "./catalogue.ts";
import { addressOf } from "./streams.ts";
import { UNKNOWN } from "./vocabulary.ts";

type Click = LinkClicked["data"];
type Named = { name: string; version: string };

/** A click with every member. Text is empty for what was not sent, and `unknown` for what was not recognised. */
export type ClickFacts = { [M in keyof Omit<Click, "browser" | "os" | "rule">]-?: NonNullable<Click[M]> } & {
  /** Undefined where the link had no rules. */
  rule: string | undefined;
  slug: string;
  referrerHost: string;
  browser: Named;
  os: Named;
};

export function clickFacts(click: Click): ClickFacts {
  return {
    userAgent: "",
    ip: "",
    country: UNKNOWN,
    region: UNKNOWN,
    city: UNKNOWN,
    utm: {},
    language: "",
    prefetch: "",
    visitor: "",
    accountVisitor: "",
    ...click,
    slug: click.link.slice(click.link.indexOf("/") + 1),
    referrer: referrerOf(click),
    referrerHost: referrerHostOf(click.referrer),
    browser: { name: click.browser?.name ?? UNKNOWN, version: click.browser?.version ?? "" },
    os: { name: click.os?.name ?? UNKNOWN, version: click.os?.version ?? "" },
  } as ClickFacts;
}

/** The referring page's URL; empty for none, and where an import doesn't say. */
export function referrerOf({ referrer }: Pick<Click, "referrer">): string {
  return referrer === undefined || referrer === UNKNOWN ? "" : referrer;
}

/**
 * The host that a referrer counts as: lower case without `www.`, or the package name of android-app://; `direct` for none,
 * `unknown` where it is not known whether there was one.
 */
export function referrerHostOf(referrer: string | undefined): string {
  if (referrer === undefined) return "direct";
  const [, host] = /^[a-z-]+:\/\/(\[[^\]]*\]|[^/:?#]+)/.exec(referrer) ?? [];
  if (host === undefined) return UNKNOWN;
  return host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^www\.(?=.)/, "");
}

/** The absolute short URL of a link, by its key `<host>/<slug>`. `baseUrl`: of the default domain, without a trailing slash. */
export function shortUrlOf(link: string, baseUrl: string): string {
  const { host, slug } = addressOf(link);
  return host === new URL(baseUrl).hostname ? `${baseUrl}/${slug}` : `https://${host}/${slug}`;
}
