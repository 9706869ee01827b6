// The one table of what a link can carry besides its destination: by it requests are read and answers made, OpenAPI,
// form, page, history, imports and exports follow. The option of each field is in events/link-options.ts.
import { z } from "zod";
import {
  type LinkOptions,
  type LinkRule,
  OPTION_LIMITS as MOST,
  type OptionName,
  REDIRECT_CODES,
} from "../../../events/link-options.ts";
import { filled, text, time } from "./field-schemas.ts";
import { rulesSchema, shownRule } from "./rule-fields.ts";

/** Whoever has the link may guess, though slowly (limits/link-password-tries.ts). */
export const LEAST_OF_PASSWORD = 8;
const SHORT_PASSWORD = `must have at least ${LEAST_OF_PASSWORD} characters`;

/**
 * What a field holds, by which it is cleaned, typed, put in words and read from a table. `text`: of a line; `lines`: of
 * several; `code`: a redirect's; `forwarding`: of the visitor's query.
 */
export type FieldKind =
  | ("text" | "lines" | "list" | "time" | "url" | "count")
  | ("password" | "code" | "forwarding" | "rules");

/** Where a form has it. */
export type FieldGroup = "about" | "schedule" | "limit" | "password" | "redirect" | "rules" | "notes";

type LinkFieldRow = {
  kind: FieldKind;
  /** The option that holds what it says. */
  option: OptionName;
  /** For people. */
  label: string;
  /** Within a sentence, where it is another than the label. */
  noun?: string;
  group: FieldGroup;
  hint?: string;
  /** Typed as it is, so that no phone begins it with a capital or corrects it. */
  isExact?: true;
  /** Most characters of a text, or of each in a list. */
  most?: number;
  /** Only on the Developer tier. */
  isDeveloper?: true;
  /** What a request says; `null` clears a field, and is as good as absent for a new link. */
  schema: z.ZodType;
};

export const LINK_FIELDS = {
  title: {
    kind: "text",
    option: "title",
    label: "Title",
    group: "about",
    most: MOST.title,
    schema: text(MOST.title)
      .nullish()
      .meta({ description: "For people", examples: ["Spring sale"] }),
  },
  comments: {
    kind: "lines",
    option: "comments",
    label: "Comments",
    group: "notes",
    most: MOST.comments,
    schema: text(MOST.comments)
      .nullish()
      .meta({ description: "For people", examples: ["Asked for by sales"] }),
  },
  tags: {
    kind: "list",
    option: "tags",
    label: "Tags",
    group: "about",
    most: MOST.tag,
    hint: `Separated by commas, at most ${MOST.tags}`,
    schema: z
      .array(filled(MOST.tag), "must be a list of texts")
      .max(MOST.tags, `must hold at most ${MOST.tags} tags`)
      .nullish()
      .meta({ description: `At most ${MOST.tags}`, examples: [["spring", "newsletter"]] }),
  },
  external_id: {
    kind: "text",
    option: "externalId",
    label: "External ID",
    group: "notes",
    most: MOST.externalId,
    hint: "Your own name for the link",
    isExact: true,
    schema: filled(MOST.externalId)
      .nullish()
      .meta({
        description: "Your own name for the link: of one link of the account that is not deleted",
        examples: ["order-4711"],
      }),
  },
  active_from: {
    kind: "time",
    option: "activeFrom",
    label: "Active from",
    noun: "start",
    group: "schedule",
    isDeveloper: true,
    schema: time.nullish().meta({
      description: "Before this time the link answers 404. Developer tier.",
      examples: ["2026-12-01T00:00:00Z"],
    }),
  },
  expires_at: {
    kind: "time",
    option: "expiresAt",
    label: "Expires at",
    noun: "end",
    group: "schedule",
    isDeveloper: true,
    schema: time.nullish().meta({
      description: "From this time on the link leads to `expired_url`, else it answers 404. Developer tier.",
      examples: ["2026-12-24T00:00:00Z"],
    }),
  },
  expired_url: {
    kind: "url",
    option: "expiredUrl",
    label: "Expired URL",
    group: "schedule",
    isDeveloper: true,
    hint: "Where it leads after its end and after the last click; nowhere (404) when empty",
    schema: z
      .string("must be a URL")
      .nullish()
      .meta({
        description: "The destination after `expires_at` and beyond `max_clicks`. Developer tier.",
        examples: ["https://example.com/sale-is-over"],
      }),
  },
  max_clicks: {
    kind: "count",
    option: "maxClicks",
    label: "Max clicks",
    noun: "limit of clicks",
    group: "limit",
    isDeveloper: true,
    hint: "Of people, before it leads to the expired URL",
    schema: z
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
  },
  password: {
    kind: "password",
    option: "passwordId",
    label: "Password",
    group: "password",
    isExact: true,
    isDeveloper: true,
    most: MOST.password,
    schema: text(MOST.password)
      .refine((value) => [...value].length >= LEAST_OF_PASSWORD, SHORT_PASSWORD)
      .nullish()
      .meta({
        description: `Visitors are asked for it. At least ${LEAST_OF_PASSWORD} characters. Kept as an argon2id hash, and never shown. Developer tier.`,
        examples: ["open sesame"],
      }),
  },
  redirect_code: {
    kind: "code",
    option: "redirectCode",
    label: "Redirect code",
    group: "redirect",
    schema: z
      .literal(REDIRECT_CODES, `must be one of ${REDIRECT_CODES.join(", ")}`)
      .nullish()
      .meta({
        description: "301 by default, or 302 where the answer depends on visitor, time or clicks",
        examples: [302],
      }),
  },
  forward_query: {
    kind: "forwarding",
    option: "forwardQuery",
    label: "Forward the query",
    noun: "forwarding of the query",
    group: "redirect",
    schema: z
      .union([z.boolean(), z.enum(["destination", "visitor"])], "must be true, false, destination or visitor")
      .nullish()
      .meta({
        description:
          "The visitor's query joins the destination's. Of two parameters of one name the destination's is kept with " +
          "`true` or `destination`, which answers show as `true`, and the visitor's with `visitor`.",
        examples: ["visitor"],
      }),
  },
  rules: {
    kind: "rules",
    option: "rules",
    label: "Rules",
    group: "rules",
    isDeveloper: true,
    schema: rulesSchema.nullish().meta({
      description: "Other destinations; the first rule that fits wins. Developer tier.",
      examples: [[{ when: { os: ["iOS"] }, url: "https://example.com/app" }]],
    }),
  },
} as const satisfies Record<string, LinkFieldRow>;

type Table = typeof LINK_FIELDS;
export type FieldName = keyof Table;
export const FIELD_NAMES = Object.keys(LINK_FIELDS) as FieldName[];

export function fieldRow(name: FieldName): LinkFieldRow {
  return LINK_FIELDS[name];
}

export const linkFields = Object.fromEntries(FIELD_NAMES.map((name) => [name, LINK_FIELDS[name].schema])) as {
  [F in FieldName]: Table[F]["schema"];
};
export const LinkFields = z.object(linkFields);
export type LinkFields = z.infer<typeof LinkFields>;

/** What clears a field, and needs no plan. */
export function isEmptyField(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

/**
 * The fields of answers that say what the options are; absent where they are not set, and `has_password` for a
 * password.
 */
export function fieldsOf(link: LinkOptions) {
  const shown: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const set = link[LINK_FIELDS[name].option];
    if (set === undefined || set === null) continue;
    if (name === "password") shown.has_password = true;
    else shown[name] = name === "rules" ? (set as LinkRule[]).map(shownRule) : set;
  }
  return shown as ShownFields;
}

const { password: _password, ...shownFields } = linkFields;

/** What an answer says. */
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
