// The rules of a link as requests say them and answers show them, and as events hold them.
import { z } from "zod";
import { cleanText } from "../../../events/classification/clean-text.ts";
import { acceptedSystem, SYSTEM_NAMES } from "../../../events/classification/systems.ts";
import { COUNTRIES } from "../../../events/countries.ts";
import { type LinkRule, OPTION_LIMITS as MOST, type RuleConditions } from "../../../events/link-options.ts";
import { DEVICE_TYPES } from "../../../events/vocabulary.ts";
import { parseMoment } from "../../../runtime/moment.ts";
import { cutText } from "../../../runtime/text/cut-text.ts";
import { OUR_WORDS } from "../../issue-sentence.ts";
import { filled, text, time, utc } from "./field-schemas.ts";
import { languageProblem } from "./rule-languages.ts";

const value = filled(MOST.value);
const oneOrMore = <T extends z.ZodType>(schema: T, message: string) =>
  z.union(
    [schema, z.array(schema).min(1, message).max(MOST.values, `must hold at most ${MOST.values} values`)],
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
  .refine((names) => Object.keys(names).length > 0, "must name a parameter")
  .refine((names) => Object.keys(names).length <= MOST.values, `must name at most ${MOST.values} parameters`);

/** A record would leave out `__proto__` without a word, and the rule would lead more visitors than it says. */
const query = z
  .unknown()
  .superRefine((written, context) => {
    const { error } = parameters.safeParse(written, OUR_WORDS);
    const issues = error?.issues.map(({ path, message }) => ({ path, message })) ?? [];
    if (written && Object.hasOwn(written, "__proto__"))
      issues.push({ path: [], message: "must not name __proto__" });
    for (const issue of issues) context.addIssue({ code: "custom", ...issue });
  })
  .meta(z.toJSONSchema(parameters)) as unknown as typeof parameters;

/** Named: of a list of values without a name generators of clients make two types of one name. */
const deviceType = z.enum(DEVICE_TYPES).meta({ id: "DeviceType" });

const language = z.string().refine((tag) => languageProblem(tag) === undefined, {
  error: ({ input }) =>
    `${LANGUAGES}; ${cutText(String(input), MOST.value)} ${languageProblem(String(input))}`,
});

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
    language: oneOrMore(language, LANGUAGES)
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
      // Generators of clients don't know exclusiveMinimum.
      .min(0, "must be over 0")
      .max(100, "must be at most 100")
      .refine((share) => share > 0, "must be over 0")
      .optional()
      .meta({
        description:
          "Per cent of the visitors that the other conditions fit, beside those of rules before it; a visitor stays " +
          "with one rule for the day (UTC)",
        examples: [50],
      }),
  })
  .refine(
    (conditions) => Object.values(conditions).some((condition) => condition !== undefined),
    "needs at least one condition",
  )
  .refine(endsAfterItBegins, { path: ["to"], error: "must be after from" })
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

export const rulesSchema = z
  .array(rule, "must be a list of rules")
  .max(MOST.rules, `must hold at most ${MOST.rules} rules`)
  .refine(
    hasRoomForShares,
    "must have shares of at most 100 together where their other conditions are the same",
  )
  .refine(hasEachIdOnce, "must have each id once");
export type RequestedRules = z.infer<typeof rulesSchema>;

/** Times that are none are refused by themselves. */
function endsAfterItBegins({ from = "", to = "" }: { from?: string | undefined; to?: string | undefined }) {
  const [begin, end] = [parseMoment(from), parseMoment(to)];
  return begin === undefined || end === undefined || begin < end;
}

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

/** `urlOf`: accepts a destination, by the name of its field. */
export function acceptedRules(
  rules: RequestedRules,
  urlOf: (url: string, field: string) => Promise<string>,
): Promise<LinkRule[]> {
  const accepted = rules.map(async ({ id, name, when, url }, index) => ({
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name: cleanText(name, MOST.ruleName) }),
    when: acceptedConditions(when),
    url: await urlOf(url, `rules.${index}.url`),
  }));
  return Promise.all(accepted);
}

type QueryCondition = NonNullable<LinkRule["when"]["query"]>[number];

/** As they are kept: lists without repeats, in one spelling, and times in UTC. */
export function acceptedConditions({
  device,
  os,
  country,
  language,
  query,
  from,
  to,
  ...when
}: RequestedRules[number]["when"]): LinkRule["when"] {
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
  return Object.fromEntries(Object.entries(lists).filter(([, condition]) => condition !== undefined));
}

function cleaned<T extends string | true>(text: T): T {
  return (text === true ? text : cleanText(text, MOST.value)) as T;
}

function listOf<T>(values: T | T[]): T[] {
  return Array.isArray(values) ? [...new Set(values)] : [values];
}

/** As requests have it: the conditions of the query as an object. */
export type ShownRule = Omit<LinkRule, "when"> & {
  when: Omit<RuleConditions, "query"> & { query?: Record<string, string | true> };
};

export function shownRule({ when: { query, ...when }, url, ...named }: LinkRule): ShownRule {
  return { ...named, when: query ? { ...when, query: Object.fromEntries(query) } : when, url };
}
