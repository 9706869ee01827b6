// The cached form of a link: everything that the redirect and the click recorder need, computed once per link.
import { changesWithVisit, type LinkOptions, type RedirectCode } from "../../events/link-options.ts";
import { type StatusFacts, statusFacts } from "../../events/links/link-status.ts";
import { linkKey } from "../../events/streams.ts";
import { NO_RULE } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { locationOf } from "../../runtime/addresses/location.ts";
import { type PackedTarget, packTarget } from "../clicks/hit.ts";
import { type Conditions, conditionsOf } from "../rules/first-rule.ts";

export type RedirectedLink = Pick<
  LinkDocument,
  "host" | "slug" | "accountId" | "longUrl" | "disabled" | "deleted" | "block" | "via" | "revision"
> &
  LinkOptions;

/** Where a visit can be led. */
export type Target = {
  /** Value of the Location header. */
  location: string;
  /** What the clicks that it gets repeat of it, serialised, as hits carry it to the writer thread. */
  packed: PackedTarget;
};

export type LinkEntry = Target & {
  host: string;
  accountId: string;
  facts: StatusFacts;
  block: RedirectedLink["block"];
  revision: number;
  /** Undefined for most links, and for a blocked one: they have one answer for everybody. */
  options: EntryOptions | undefined;
};

/** What the link's options say of its answers. */
export type EntryOptions = {
  /** `<host>/<slug>`. */
  key: string;
  /** A Location after the link's time and beyond its clicks; undefined for 404. */
  expiredLocation: string | undefined;
  maxClicks: number | undefined;
  passwordId: string | undefined;
  code: RedirectCode;
  /** Whether caches must not keep the answer, as the next one may be another. */
  changes: boolean;
  /** Whose parameters are kept where both have one of a name; undefined where no query is forwarded. */
  forwardQuery: "destination" | "visitor" | undefined;
  rules: readonly (Target & { when: Conditions })[];
};

/** Approximate size in memory: texts of one byte a character, and 500 bytes of objects. */
export function bytesOf({ host, location, packed, options }: LinkEntry): number {
  const bytes = 500 + host.length + location.length + packed.length;
  return options ? bytes + 400 * (1 + options.rules.length) + JSON.stringify(options).length : bytes;
}

export function linkEntry(link: RedirectedLink): LinkEntry {
  const { host, accountId, block, revision, longUrl } = link;
  const options = block ? undefined : entryOptions(link);
  const rule = options && options.rules.length > 0 ? NO_RULE : undefined;
  const facts = statusFacts(link);
  return { host, accountId, facts, block, revision, ...targetOf(link, longUrl, rule), options };
}

function entryOptions(link: RedirectedLink): EntryOptions | undefined {
  const { expiredUrl, maxClicks, passwordId } = link;
  const { redirectCode, rules = [] } = link;
  const forwardQuery = link.forwardQuery === true ? "destination" : link.forwardQuery;
  const changes = changesWithVisit(link);
  if (!changes && redirectCode === undefined && !forwardQuery) return undefined;
  return {
    key: linkKey(link.host, link.slug),
    expiredLocation: expiredUrl === undefined ? undefined : locationOf(expiredUrl),
    maxClicks,
    passwordId,
    code: redirectCode ?? (changes ? 302 : 301),
    changes,
    forwardQuery,
    rules: rules.map(({ id = NO_RULE, when, url }) => ({
      when: conditionsOf(when),
      ...targetOf(link, url, id),
    })),
  };
}

/** `rule`: as of LinkClicked. */
function targetOf(link: RedirectedLink, longUrl: string, rule: string | undefined): Target {
  const { host, slug, revision, accountId, via } = link;
  const packed = packTarget({
    key: linkKey(host, slug),
    revision,
    longUrl,
    accountId,
    via,
    ...(rule !== undefined && { rule }),
  });
  return { location: locationOf(longUrl), packed };
}
