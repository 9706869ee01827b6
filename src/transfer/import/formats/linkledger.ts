// Our own export (src/transfer/export/account-lines.ts): everything of a link and of a click but ids of another service's accounts.
import { z } from "zod";
import { acceptReason } from "../../../commands/accept-text.ts";
import { OUR_WORDS } from "../../../commands/issue-sentence.ts";
import { FIELD_NAMES, LINK_FIELDS } from "../../../commands/links/fields/link-fields.ts";
import { clickEvents } from "../../../events/click-events.ts";
import { LINK_STATUSES } from "../../../events/links/link-status.ts";
import { CREATED_VIA, UNKNOWN } from "../../../events/vocabulary.ts";
import { UTC } from "../../../queries/analytics/time-zone.ts";
import { Failure } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { timeOf } from "../fields.ts";
import type {
  ClickFacts,
  FieldList,
  Fields,
  ImportedChange,
  ImportedFields,
  ImportedPassword,
  ImportFormat,
} from "../imported.ts";

export const EXPORT_TYPE = "linkledger-export";
export const EXPORT_VERSION = 1;
/** The type of a line about an event that could not be read. */
export const UNREADABLE_TYPE = "unreadable";

const at = z.string();
const options = z.record(z.string(), z.unknown());
const code = z.string().regex(/^[0-9a-f]{16}$/);
/** `domain`: null on the base host. */
const address = { domain: z.string().nullable(), slug: z.string() };

export const ExportedLink = z.object({
  type: z.literal("link"),
  ...address,
  long_url: z.string(),
  status: z.enum(LINK_STATUSES),
  created_at: at,
  via: z.enum(CREATED_VIA),
  custom: z.boolean(),
  /** As of LinkCreated; what a link can have is for the decider to say. */
  options,
  /** Argon2id, of the password that the link has now. */
  password_hash: z.string().optional(),
  changes: z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("LinkOptionsChanged"), at, changes: options }),
      z.object({ type: z.literal("LinkRetargeted"), at, from: z.string(), to: z.string() }),
      z.object({ type: z.literal("LinkBlocked"), at, reason: z.string(), legal: z.literal(true).optional() }),
      z.object({
        type: z.enum(["LinkDisabled", "LinkEnabled", "LinkDeleted", "LinkRestored", "LinkUnblocked"]),
        at,
      }),
      z.object({ type: z.enum(["LinkExpired", "LinkReopened"]), at, expiresAt: z.string() }),
      z.object({ type: z.literal("LinkLimitReached"), at, maxClicks: z.number() }),
    ]),
  ),
});

export const ExportedClick = z.object({
  type: z.literal("click"),
  ...address,
  id: z.string(),
  /** What a hit and its visitor said; everything else of LinkClicked is made of it again. */
  click: clickEvents.LinkClicked.schema
    .pick({
      linkRevision: true,
      kind: true,
      method: true,
      userAgent: true,
      device: true,
      browser: true,
      os: true,
      ip: true,
      country: true,
      region: true,
      city: true,
      referrer: true,
      utm: true,
      language: true,
      prefetch: true,
      rule: true,
    })
    .extend({ at, visitor: code.optional(), accountVisitor: code.optional() }),
});

const mapped = {
  slug: ["slug"],
  domain: ["domain"],
  url: ["long_url"],
  created_at: ["created_at"],
  created_via: ["via"],
  custom: ["custom"],
  history: ["changes"],
  options: ["options"],
  password: ["password_hash"],
} as const satisfies FieldList["mapped"];

const CHANGES = {
  LinkDisabled: "disable",
  LinkEnabled: "enable",
  LinkDeleted: "delete",
  LinkRestored: "restore",
  LinkUnblocked: "unblock",
} as const;

type Changes = z.infer<typeof ExportedLink>["changes"];
type PasswordOf = (id: unknown) => ImportedPassword;

function changeOf(change: Changes[number], passwordOf: PasswordOf): ImportedChange["change"] {
  switch (change.type) {
    case "LinkRetargeted":
      return { type: "retarget", to: change.to };
    case "LinkOptionsChanged":
      return { type: "set", fields: fieldsOf(change.changes, passwordOf) };
    case "LinkBlocked":
      return { type: "block", reason: acceptReason(change.reason), legal: change.legal === true };
    case "LinkExpired":
    case "LinkReopened":
      return { type: "reach-end", people: 0 };
    case "LinkLimitReached":
      return { type: "reach-end", people: change.maxClicks };
    default:
      return { type: CHANGES[change.type] };
  }
}

const FIELD_OF_OPTION = new Map(FIELD_NAMES.map((field) => [LINK_FIELDS[field].option as string, field]));

/** What a request would say for it. @throws Failure for an option that we don't know */
function fieldsOf(options: Fields, passwordOf: PasswordOf): ImportedFields {
  const fields = Object.entries(options).map(([option, value]) => {
    const field = FIELD_OF_OPTION.get(option);
    if (field === undefined) throw refused(`there is no option ${option} here`);
    if (value === null) return [field, null];
    return [
      field,
      field === "password" ? passwordOf(value) : field === "rules" ? requestedRules(value) : value,
    ];
  });
  return Object.fromEntries(fields);
}

/** Conditions on the query are pairs in events, and an object in requests; whatever else it is the request's schema refuses. */
function requestedRules(rules: unknown): unknown {
  if (!Array.isArray(rules)) return rules;
  return rules.map((rule: unknown) => {
    const when = isObject(rule) && isObject(rule.when) ? rule.when : undefined;
    const pairs = when?.query;
    if (!Array.isArray(pairs) || !pairs.every((pair) => Array.isArray(pair) && pair.length === 2))
      return rule;
    return { ...(rule as object), when: { ...when, query: Object.fromEntries(pairs) } };
  });
}

/** @throws Failure when the hash of the link's password is not in the file */
function passwordsOf({ options, changes, password_hash: hash }: z.infer<typeof ExportedLink>): PasswordOf {
  const later = changes.map((change) => (change.type === "LinkOptionsChanged" ? change.changes : {}));
  const present = [options, ...later].findLast(({ passwordId }) => passwordId !== undefined)?.passwordId;
  return (id) => {
    if (id !== present) return "replaced";
    if (hash === undefined) throw refused("it is protected by a password that is not in the file");
    return { hash };
  };
}

export const linkledger: ImportFormat = {
  name: "linkledger",
  fields: {
    mapped,
    leftOut: { type: "what the line is", status: "it follows from the changes" },
    refused: {},
  },
  columns: { links: [["type"]] },
  linksOf(record) {
    const { type, version } = record;
    if (type === EXPORT_TYPE && version !== EXPORT_VERSION)
      throw refused(`the file is of version ${version}, this program reads ${EXPORT_VERSION}`);
    if (type !== "link") return undefined;
    const link = read(ExportedLink, record);
    const { slug, domain, long_url, created_at, changes, via, custom } = link;
    const passwordOf = passwordsOf(link);
    const retargeted = changes.find((change) => change.type === "LinkRetargeted");
    return [
      {
        slug,
        domain: domain ?? undefined,
        via,
        custom,
        longUrl: retargeted?.from ?? long_url,
        createdAt: timeOf(created_at, UTC),
        fields: fieldsOf(link.options, passwordOf),
        changes: changes.map((change) => ({
          at: timeOf(change.at, UTC),
          change: changeOf(change, passwordOf),
        })),
      },
    ];
  },
  clicksOf(record) {
    if (record.type === EXPORT_TYPE) return [];
    if (record.type === UNREADABLE_TYPE)
      throw refused("an event that could not be read when the file was exported");
    if (record.type !== "click") throw refused("not a record of `export links` or `export account`");
    const { domain, slug, id, click } = read(ExportedClick, record);
    return [{ link: { domain: domain ?? undefined, slug }, id, facts: factsOf(click) }];
  },
};

function factsOf({ visitor, accountVisitor, ...click }: z.infer<typeof ExportedClick>["click"]): ClickFacts {
  return {
    ...click,
    at: timeOf(click.at, UTC),
    revision: click.linkRevision,
    referrer: click.referrer === UNKNOWN ? undefined : (click.referrer ?? ""),
    isBot: click.kind === "preview",
    isScan: click.kind === "qr_scan",
    browser: click.browser?.name,
    os: click.os?.name,
    visitors: { visitor, ...(accountVisitor !== undefined && { accountVisitor }) },
  };
}

/** @throws Failure */
function read<T extends z.ZodType>(schema: T, record: Fields): z.infer<T> {
  const result = schema.safeParse(record, OUR_WORDS);
  if (result.success) return result.data;
  throw refused(result.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; "));
}

function refused(why: string): Failure {
  return new Failure(why);
}
