// What a request can say of a link besides its destination: names, bounds and texts of the fields, which the API,
// bulk requests, the portal and OpenAPI share, and how they become the options that events hold.

import { z } from "zod";
import { cleanText } from "../../events/classification/clean-text.ts";
import { acceptedSystem, SYSTEM_NAMES } from "../../events/classification/systems.ts";
import { COUNTRIES } from "../../events/countries.ts";
import {
  type LinkOptions,
  type LinkRule,
  OPTION_LIMITS as MOST,
  type OptionChanges,
  type OptionName,
  REDIRECT_CODES,
  type RuleConditions,
} from "../../events/link-options.ts";
import { DEVICE_TYPES, type Tier } from "../../events/vocabulary.ts";
import { MOMENT_EXAMPLE, parseMoment } from "../../runtime/moment.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { requireDeveloper } from "../caller.ts";
import { OUR_WORDS } from "../issue-sentence.ts";
import { type AcceptUrlDeps, acceptUrl } from "./accept-url.ts";
import { keepLinkPassword } from "./link-password.ts";

/** Whose parameters are kept where both have one of a name. */
const FORWARD_QUERY = ["destination", "visitor"] as const;
const TIME = `must be ${MOMENT_EXAMPLE}`;

const text = (most: number) => z.string("must be a text").max(most, `must have at most ${most} characters`);
/** Of which something is left when it is cleaned. */
const filled = (most: number) =>
  text(most).refine((given) => cleanText(given, most) !== "", "must not be empty");
const value = filled(MOST.value);
const time = z.string(TIME).refine((given) => parseMoment(given) !== undefined, TIME);
const oneOrMore = <T extends z.ZodType>(one: T, message: string) =>
  z.union(
    [one, z.array(one).min(1, message).max(MOST.values, `must hold at most ${MOST.values} values`)],
    message,
  );
const COUNTRY = "must be one or more codes of ISO 3166-1, such as DE or GB";
const LANGUAGES = "must be one or more language tags, such as de or pt-BR";

/** Families; their members can be named alone, too. */
const SYSTEMS = `must be one or more of ${SYSTEM_NAMES.join(", ")}, or a distribution such as Ubuntu`;

const parameters = z
  .record(value, z.union([text(MOST.value), z.literal(true)], "must be a text, or true for any"), {
    error: ({ code }) =>
      code === "invalid_key"
        ? `must have names of 1 to ${MOST.value} characters`
        : "must be an object of names and values",
  })
  .refine((given) => Object.keys(given).length > 0, "must name a parameter")
  .refine((given) => Object.keys(given).length <= MOST.values, `must name at most ${MOST.values} parameters`);

/** A record would leave out `__proto__` without a word, and the rule would lead more visitors than it says. */
const query = z
  .unknown()
  .superRefine((given, context) => {
    const { error } = parameters.safeParse(given, OUR_WORDS);
    const issues = error?.issues.map(({ path, message }) => ({ path, message })) ?? [];
    if (given && Object.hasOwn(given, "__proto__"))
      issues.push({ path: [], message: "must not name __proto__" });
    for (const issue of issues) context.addIssue({ code: "custom", ...issue });
  })
  .meta(z.toJSONSchema(parameters)) as unknown as typeof parameters;

/** Named: of a list of values without a name generators of clients make two types of one name. */
const deviceType = z.enum(DEVICE_TYPES).meta({ id: "DeviceType" });

const conditions = z
  .strictObject({
    device: oneOrMore(deviceType, `must be one or more of ${DEVICE_TYPES.join(", ")}`)
      .optional()
      .meta({ examples: ["mobile"] }),
    os: oneOrMore(
      z.string().refine((name) => acceptedSystem(name) !== undefined, SYSTEMS),
      SYSTEMS,
    )
      .optional()
      .meta({ examples: [["iOS", "Android"]] }),
    country: oneOrMore(
      z.string().refine((code) => COUNTRIES.has(code.toUpperCase()), COUNTRY),
      COUNTRY,
    )
      .optional()
      .meta({ description: "ISO 3166-1 alpha-2", examples: [["DE", "AT"]] }),
    language: oneOrMore(z.string().regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, LANGUAGES), LANGUAGES)
      .optional()
      .meta({ description: "`pt` also fits `pt-BR`", examples: ["de"] }),
    query: query.optional().meta({
      description: "Of the short URL; `true` for any value",
      examples: [{ ref: "shop", beta: true }],
    }),
    from: time.optional().meta({ description: "At or after this time", examples: ["2026-12-01T00:00:00Z"] }),
    to: time.optional().meta({ description: "Before this time", examples: ["2026-12-24T00:00:00Z"] }),
    share: z
      .number("must be a number over 0, at most 100")
      .gt(0, "must be over 0")
      .max(100, "must be at most 100")
      .optional()
      .meta({
        description:
          "Per cent of the visitors that the other conditions fit, beside those of rules before it; a visitor stays " +
          "with one rule for the day (UTC)",
        examples: [50],
      }),
  })
  .refine((given) => Object.values(given).some((one) => one !== undefined), "needs at least one condition")
  .meta({ id: "RuleConditions" });

const rule = z
  .strictObject({
    id: z
      .string("must be a text")
      .regex(/^[0-9a-f]{12}$/, "must be the id of a rule that the link has")
      .optional()
      .meta({ description: "Ours: a rule that is sent with its id stays the same, whatever else changes" }),
    name: filled(MOST.ruleName)
      .optional()
      .meta({ description: "For people", examples: ["Variant B"] }),
    when: conditions,
    url: z.string("must be a URL").meta({ examples: ["https://example.com/app"] }),
  })
  .meta({ id: "LinkRule" });

/** `null` clears a field, and is as good as absent for a new link. */
export const linkFields = {
  title: text(MOST.title)
    .nullish()
    .meta({ description: "For people", examples: ["Spring sale"] }),
  comments: text(MOST.comments)
    .nullish()
    .meta({ description: "For people", examples: ["Asked for by sales"] }),
  tags: z
    .array(filled(MOST.tag), "must be a list of texts")
    .max(MOST.tags, `must hold at most ${MOST.tags} tags`)
    .nullish()
    .meta({ description: `At most ${MOST.tags}`, examples: [["spring", "newsletter"]] }),
  external_id: filled(MOST.externalId)
    .nullish()
    .meta({
      description: "Your own name for the link: of one link of the account that is not deleted",
      examples: ["order-4711"],
    }),
  active_from: time.nullish().meta({
    description: "Before this time the link answers 404. Developer tier.",
    examples: ["2026-12-01T00:00:00Z"],
  }),
  expires_at: time.nullish().meta({
    description: "From this time on the link leads to `expired_url`, else it answers 404. Developer tier.",
    examples: ["2026-12-24T00:00:00Z"],
  }),
  expired_url: z
    .string("must be a URL")
    .nullish()
    .meta({
      description: "The destination outside of the link's time and beyond its clicks. Developer tier.",
      examples: ["https://example.com/sale-is-over"],
    }),
  max_clicks: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(MOST.maxClicks, `must be at most ${MOST.maxClicks}`)
    .nullish()
    .meta({
      description:
        "After so many clicks of people the link leads to `expired_url`, else it answers 404. May be passed by what " +
        "other processes answered within the last second. Developer tier.",
      examples: [1000],
    }),
  password: text(MOST.password)
    .min(1, "must not be empty")
    .nullish()
    .meta({
      description: "Visitors are asked for it. Kept as an argon2id hash, and never shown. Developer tier.",
      examples: ["open sesame"],
    }),
  redirect_code: z
    .literal(REDIRECT_CODES, `must be one of ${REDIRECT_CODES.join(", ")}`)
    .nullish()
    .meta({
      description: "301 by default, or 302 where the answer depends on visitor, time or clicks",
      examples: [302],
    }),
  forward_query: z
    .union([z.boolean(), z.enum(FORWARD_QUERY)], "must be true, false, destination or visitor")
    .nullish()
    .meta({
      description:
        "The visitor's query joins the destination's. Of two parameters of one name the destination's is kept with " +
        "`true` or `destination`, which answers show as `true`, and the visitor's with `visitor`.",
      examples: ["visitor"],
    }),
  rules: z
    .array(rule, "must be a list of rules")
    .max(MOST.rules, `must hold at most ${MOST.rules} rules`)
    .refine(
      hasRoomForShares,
      "must have shares of at most 100 together where their other conditions are the same",
    )
    .refine(hasEachIdOnce, "must have each id once")
    .nullish()
    .meta({
      description: "Other destinations; the first rule that fits wins. Developer tier.",
      examples: [[{ when: { os: ["iOS"] }, url: "https://example.com/app" }]],
    }),
};

/** A rule whose share begins beyond all visitors would never be followed. */
function hasRoomForShares(rules: readonly z.infer<typeof rule>[]): boolean {
  const spent = new Map<string, number>();
  for (const { when } of rules) {
    const { share = 0, ...others } = when;
    const key = JSON.stringify(Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1)));
    spent.set(key, (spent.get(key) ?? 0) + share);
  }
  return [...spent.values()].every((sum) => sum <= 100);
}

function hasEachIdOnce(rules: readonly z.infer<typeof rule>[]): boolean {
  const ids = rules.flatMap(({ id }) => id ?? []);
  return new Set(ids).size === ids.length;
}

export const LinkFields = z.object(linkFields);
export type LinkFields = z.infer<typeof LinkFields>;
export type FieldName = keyof LinkFields;
export const FIELD_NAMES = Object.keys(linkFields) as FieldName[];

/** The option that holds what a field says. */
export const OPTION_OF_FIELD = {
  title: "title",
  comments: "comments",
  tags: "tags",
  external_id: "externalId",
  active_from: "activeFrom",
  expires_at: "expiresAt",
  expired_url: "expiredUrl",
  max_clicks: "maxClicks",
  password: "passwordId",
  redirect_code: "redirectCode",
  forward_query: "forwardQuery",
  rules: "rules",
} as const satisfies Record<FieldName, OptionName>;

/** Of the Developer tier. */
export const DEVELOPER_FIELDS: readonly FieldName[] = [
  ...(["active_from", "expires_at", "expired_url", "max_clicks"] as const),
  ...(["password", "rules"] as const),
];

/** Clearing them is free, as for an account that had the plan before. @throws tier_required */
export function requireTierOf(fields: LinkFields, tier: Tier): void {
  for (const name of DEVELOPER_FIELDS)
    if (!isEmpty(fields[name])) requireDeveloper(tier, `Links with ${name}`, name);
}

export type AcceptFieldsDeps = AcceptUrlDeps & { secrets: Secrets; newId: () => string };

/** `unchecked`: URLs that were accepted while the remote safety check was unavailable. */
type AcceptedFields = { options: OptionChanges; unchecked: string[] };

/**
 * The options that the fields say, as events hold them; fields that are absent change nothing, empty ones clear. A
 * password's hash is in the secrets when this resolves. `ownHosts`: as for acceptUrl.
 * @throws invalid_url, unsafe_url with the field's name
 */
export async function acceptFields(
  deps: Omit<AcceptFieldsDeps, "secrets"> & { secrets: Pick<Secrets, "put"> },
  fields: LinkFields,
  ownHosts: () => Promise<readonly string[]>,
): Promise<AcceptedFields> {
  const unchecked: string[] = [];
  const urlOf = async (given: string, field: string) => {
    try {
      const { longUrl, isChecked } = await acceptUrl(deps, given, ownHosts);
      if (!isChecked) unchecked.push(longUrl);
      return longUrl;
    } catch (error) {
      if (!isRefused(error, "invalid_url", "unsafe_url")) throw error;
      throw new Refused(error.code, `${field}: ${error.message}`, { field });
    }
  };
  const options: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const given = fields[name];
    if (given === undefined) continue;
    options[OPTION_OF_FIELD[name]] = isEmpty(given) ? null : await accepted(name, given);
  }
  return { options, unchecked };

  async function accepted(name: FieldName, given: unknown): Promise<unknown> {
    switch (name) {
      case "comments":
        return (
          String(given)
            .split(/\r?\n/)
            .map((line) => cleanText(line, MOST.comments))
            .join("\n")
            .trim() || null
        );
      case "title":
        return cleanText(String(given), MOST.title) || null;
      case "external_id":
        return cleanText(String(given), MOST.externalId) || null;
      case "tags":
        return [...new Set((given as string[]).map((tag) => cleanText(tag, MOST.tag)))];
      case "active_from":
      case "expires_at":
        return utc(String(given));
      case "expired_url":
        return await urlOf(String(given), name);
      case "password":
        return await keepLinkPassword(deps, String(given));
      case "forward_query":
        return given === "destination" ? true : given;
      case "rules":
        return await Promise.all(
          (given as Rules).map(async ({ id, name, when, url }, index) => ({
            ...(id !== undefined && { id }),
            ...(name !== undefined && { name: cleanText(name, MOST.ruleName) }),
            when: conditionsOf(when),
            url: await urlOf(url, `rules.${index}.url`),
          })),
        );
      default:
        return given;
    }
  }
}

/** The URLs that a request names, such as for one request to the safety check about many links. */
export function urlsOf({ url, expired_url, rules }: LinkFields & { url?: string | undefined }): string[] {
  const others = [...(expired_url ? [expired_url] : []), ...(rules ?? []).map((rule) => rule.url)];
  return url === undefined ? others : [url, ...others];
}

type Rules = NonNullable<LinkFields["rules"]>;
type QueryCondition = NonNullable<LinkRule["when"]["query"]>[number];

function conditionsOf({
  device,
  os,
  country,
  language,
  query,
  from,
  to,
  ...when
}: Rules[number]["when"]): LinkRule["when"] {
  const lists = {
    device: device && listOf(device),
    os: os && [...new Set(listOf(os).map((name) => acceptedSystem(name) ?? name))],
    country: country && listOf(country).map((code) => code.toUpperCase()),
    language: language && listOf(language).map((tag) => tag.toLowerCase()),
    query:
      query && Object.entries(query).map(([name, value]): QueryCondition => [cleaned(name), cleaned(value)]),
    ...when,
    from: from && utc(from),
    to: to && utc(to),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, one]) => one !== undefined));
}

function cleaned<T extends string | true>(given: T): T {
  return (given === true ? given : cleanText(given, MOST.value)) as T;
}

function listOf<T>(one: T | T[]): T[] {
  return Array.isArray(one) ? [...new Set(one)] : [one];
}

function utc(time: string): string {
  return (parseMoment(time) as Date).toISOString();
}

/** What clears a field, and needs no plan. */
function isEmpty(given: unknown): boolean {
  return (
    given === undefined ||
    given === null ||
    given === "" ||
    given === false ||
    (Array.isArray(given) && given.length === 0)
  );
}

/**
 * The fields of answers that say what the options are; absent where they are not set, and `has_password` for a
 * password.
 */
export function fieldsOf(link: LinkOptions) {
  const shown: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const set = link[OPTION_OF_FIELD[name]];
    if (set === undefined || set === null) continue;
    if (name === "password") shown.has_password = true;
    else shown[name] = name === "rules" ? (set as LinkRule[]).map(shownRule) : set;
  }
  return shown as ShownFields;
}

/** As requests have it: the conditions of the query as an object. */
export type ShownRule = Omit<LinkRule, "when"> & {
  when: Omit<RuleConditions, "query"> & { query?: Record<string, string | true> };
};

function shownRule({ when: { query, ...when }, url, ...named }: LinkRule): ShownRule {
  return { ...named, when: query ? { ...when, query: Object.fromEntries(query) } : when, url };
}

const { password: _password, ...shownFields } = linkFields;

/** Of answers. */
export const shownLinkFields = {
  ...(Object.fromEntries(
    Object.entries(shownFields).map(([name, schema]) => [
      name,
      schema
        .unwrap()
        .unwrap()
        .optional()
        .meta(schema.meta() ?? {}),
    ]),
  ) as unknown as { [F in keyof typeof shownFields]: z.ZodOptional<z.ZodType<NonNullable<LinkFields[F]>>> }),
  has_password: z.literal(true).optional().meta({ description: "Visitors are asked for a password" }),
};
type ShownFields = { [F in keyof typeof shownLinkFields]?: z.infer<(typeof shownLinkFields)[F]> };
