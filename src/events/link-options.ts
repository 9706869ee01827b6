// What a link can carry besides its destination: the members of LinkCreated and LinkOptionsChanged, and what
// follows from them for redirects, lists and rechecks.
import { hash } from "node:crypto";
import { z } from "zod";
import { comparableUrl } from "../runtime/addresses/comparable-url.ts";
import { DEVICE_TYPES } from "./vocabulary.ts";

export const REDIRECT_CODES = [301, 302, 307, 308] as const;
export type RedirectCode = (typeof REDIRECT_CODES)[number];

export const OPTION_LIMITS = {
  title: 200,
  comments: 2_000,
  tags: 10,
  tag: 50,
  externalId: 100,
  maxClicks: 1_000_000_000,
  password: 128,
  rules: 20,
  ruleName: 50,
  /** Values of one condition, and names of its `query`. */
  values: 50,
  /** Characters of a value. */
  value: 200,
  /** Bytes of all that a link carries, with its destination, as JSON in UTF-8: each change and each read costs as much. */
  all: 16_384,
} as const;

const when = z
  .object({
    device: z.array(z.enum(DEVICE_TYPES)).optional(),
    os: z.array(z.string()).optional().describe("Names as clicks have them, in any case"),
    country: z.array(z.string()).optional().describe("ISO 3166-1 alpha-2, upper case"),
    language: z.array(z.string()).optional().describe("Primary language tags, lower case"),
    query: z
      .array(z.tuple([z.string(), z.union([z.string(), z.literal(true)])]))
      .optional()
      .describe(
        "Names and values of the short URL's query, as pairs, as a name may hold anything; `true`: any value",
      ),
    from: z.iso.datetime().optional().describe("At or after this time"),
    to: z.iso.datetime().optional().describe("Before this time"),
    share: z
      .number()
      .optional()
      .describe("Per cent of the visitors that the other conditions fit, beside those of rules before it"),
  })
  .describe("All of the conditions that are given must fit; of the values of one, any");

/** In the order in which pages and answers show them. */
const options = {
  title: z.string().describe("For people"),
  comments: z.string().describe("For people"),
  tags: z.array(z.string()).describe("For lists"),
  externalId: z.string().describe("The owner's own name for the link, of one link that is not deleted"),
  activeFrom: z.iso.datetime().describe("Before this time it answers 404"),
  expiresAt: z.iso.datetime().describe("From this time on it leads to `expiredUrl`"),
  expiredUrl: z
    .string()
    .describe("The destination after its time and beyond its clicks; without one the answer is 404"),
  maxClicks: z.number().int().describe("Clicks of people, after which it leads to `expiredUrl`"),
  passwordId: z
    .uuid()
    .describe(
      "The secret with the hash of the password that visitors are asked for; each password has its own",
    ),
  redirectCode: z
    .union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)])
    .describe("By default 301, or 302 for a link that changes with visitor or time"),
  forwardQuery: z
    .union([z.literal(true), z.literal("visitor")])
    .describe(
      "The visitor's query joins that of the destination, whose own parameters win, or those of the visitor",
    ),
  rules: z
    .array(
      z.object({
        id: z.string().optional().describe("Ours, the same as long as the link has the rule; clicks name it"),
        name: z.string().optional().describe("For people"),
        when,
        url: z.string(),
      }),
    )
    .describe("Other destinations: of the first rule whose conditions fit"),
};

type Options = typeof options;
export type OptionName = keyof Options;
const OPTION_NAMES = Object.keys(options) as OptionName[];

/** Members of LinkCreated. */
export const optionsOfLink = Object.fromEntries(
  Object.entries(options).map(([name, schema]) => [name, schema.optional()]),
) as { [O in OptionName]: z.ZodOptional<Options[O]> };

/** Members of LinkOptionsChanged: the new value of each option that changed, null for one that was taken away. */
export const changesOfOptions = Object.fromEntries(
  Object.entries(options).map(([name, schema]) => [name, schema.nullable().optional()]),
) as { [O in OptionName]: z.ZodOptional<z.ZodNullable<Options[O]>> };

/** Options that are not set are absent. */
export type LinkOptions = { [O in OptionName]?: z.infer<Options[O]> | undefined };
export type OptionChanges = { [O in OptionName]?: z.infer<Options[O]> | null | undefined };
export type LinkRule = z.infer<Options["rules"]>[number];
export type RuleConditions = LinkRule["when"];

/** The link with the options set that are changed, and without those that are taken away. */
export function withOptions<L extends LinkOptions>(link: L, changes: OptionChanges): L {
  const set = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined);
  const kept = Object.entries(link).filter(([name]) => changes[name as OptionName] === undefined);
  return Object.fromEntries([...kept, ...set]) as L;
}

/** The options alone, in the order of OPTION_NAMES. */
export function optionsOf(link: LinkOptions): LinkOptions {
  const set = OPTION_NAMES.filter((name) => link[name] !== undefined && link[name] !== null);
  return Object.fromEntries(set.map((name) => [name, link[name]]));
}

/**
 * Equal for links of one account and host that lead to the same places and carry the same; null for one with a
 * password, which is never the same as another.
 */
export function fingerprintOf(
  link: LinkOptions & { accountId: string; host: string; longUrl: string },
): string | null {
  if (link.passwordId !== undefined && link.passwordId !== null) return null;
  const { accountId, host } = link;
  const longUrl = comparableUrl(link.longUrl);
  const options = optionsOf(link);
  if (options.expiredUrl) options.expiredUrl = comparableUrl(options.expiredUrl);
  if (options.rules)
    options.rules = options.rules.map(({ id: _, ...rule }) => ({ ...rule, url: comparableUrl(rule.url) }));
  const text = JSON.stringify([accountId, host, longUrl, options], link.rules && withSortedNames);
  return hash("sha256", text, "base64url").slice(0, FINGERPRINT_CHARACTERS);
}

/** 132 bits. */
const FINGERPRINT_CHARACTERS = 22;

/** Of JSON.stringify: conditions of rules are the same in any order. */
function withSortedNames(name: string, value: unknown): unknown {
  if (name === "query" && Array.isArray(value))
    return value.toSorted(([a]: string[], [b]: string[]) => ((a ?? "") < (b ?? "") ? -1 : 1));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/** Whether they lead the same visitors to the same place, whatever they are called. */
export function isSameRule(rule: LinkRule, other: LinkRule): boolean {
  const [text, otherText] = [rule, other].map(({ when, url }) =>
    JSON.stringify([when, comparableUrl(url)], withSortedNames),
  );
  return text === otherText;
}

/** Every URL to which the link can lead: each is checked as the first one is. */
export function destinationsOf({
  longUrl,
  expiredUrl,
  rules = [],
}: LinkOptions & { longUrl: string }): string[] {
  return [...new Set([longUrl, ...(expiredUrl ? [expiredUrl] : []), ...rules.map(({ url }) => url)])];
}

/**
 * Whether its answer depends on the visitor, the time or the clicks before: then it must not be kept by caches.
 */
export function changesWithVisit(link: LinkOptions): boolean {
  const { activeFrom, expiresAt, maxClicks, passwordId, rules = [] } = link;
  return Boolean(activeFrom || expiresAt || maxClicks || passwordId || rules.length > 0);
}
