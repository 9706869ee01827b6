// Events of `clicks-<writer>-<yyyymmdd>`: all facts of every hit, so that later projections can be folded from them; and of
// `gaps-<id>`: clicks that were not recorded.
import { z } from "zod";
import { eventType } from "./definition.ts";
import { CLICK_KINDS, CREATED_VIA, DEVICE_TYPES, UTM_FIELDS } from "./vocabulary.ts";
import { LINK_CLICKED } from "./webhook-selection.ts";

const named = z.object({ name: z.string(), version: z.string().optional() });

/** Each fact once: what is not known, or was not sent, is absent; what follows from other members, click-facts.ts says. */
export const clickEvents = {
  LinkClicked: eventType(
    "A short link was followed, by a person or a program.",
    {
      link: z.string().describe("`<host>/<slug>`"),
      linkRevision: z
        .number()
        .int()
        .describe("How many changes the link had had; with `longUrl`, the destination at that moment"),
      longUrl: z.string().describe("The destination at that moment"),
      accountId: z.uuid().describe("The link's owner"),
      via: z.enum(CREATED_VIA).describe("Whether the link was created through the API, or in the portal"),
      at: z.iso.datetime().describe("When it happened"),
      kind: z.enum(CLICK_KINDS).describe("A person's click, a program's preview, or a scan of the QR code"),
      rules: z
        .string()
        .describe(
          "What chose `kind`, `device`, `browser` and `os`: the version of the rules, and of both libraries",
        ),
      rule: z
        .string()
        .optional()
        .describe(
          "The id of the link's rule that led to `longUrl`; `none` where none of them did, absent where it had none",
        ),
      method: z.enum(["GET", "HEAD", "POST"]).describe("POST: the password was typed in"),
      userAgent: z.string().optional().describe("As sent, at most 512 characters"),
      device: z.enum(DEVICE_TYPES),
      browser: named.optional().describe("Absent when not recognised"),
      os: named.optional().describe("Absent when not recognised"),
      ip: z.string().optional().describe("Anonymised before the event existed: IPv4 /24, IPv6 /48"),
      country: z.string().optional().describe("ISO 3166-1 alpha-2"),
      region: z.string().optional().describe("Name"),
      city: z.string().optional().describe("Name"),
      referrer: z
        .string()
        .optional()
        .describe(
          "URL without query or fragment, at most 512 characters; absent for none; `unknown` where an import doesn't say",
        ),
      utm: z
        .object({
          source: z.string().optional(),
          medium: z.string().optional(),
          campaign: z.string().optional(),
          term: z.string().optional(),
          content: z.string().optional(),
        })
        .optional()
        .describe("The fields that were given: by the short URL's own query, else by the long URL's"),
      language: z.string().optional().describe("Primary language tag of Accept-Language, lower case"),
      prefetch: z.string().optional().describe("Sec-Purpose, Purpose or X-Moz as sent"),
      visitor: z
        .string()
        .optional()
        .describe(
          "16 hex digits: the same for one visitor, link and UTC day, and never joined beyond it; absent where an import doesn't say",
        ),
      accountVisitor: z.string().optional().describe("The same for one visitor, account and UTC day"),
    },
    { webhook: LINK_CLICKED },
  ),
};

export const gapEvents = {
  ClicksNotRecorded: eventType(
    "Visitors were led on while clicks could not be stored, and for these hits there was no room in memory.",
    {
      at: z.iso.datetime().describe("When it was said, as soon as the log took appends again"),
      from: z.iso.datetime().describe("The first of these hits"),
      until: z.iso.datetime().describe("The last of these hits"),
      hits: z.int().min(1).describe("How many there were, of all links of the service"),
    },
  ),
};

type Click = z.infer<typeof clickEvents.LinkClicked.schema>;
/** As parsed: anything may stand in a member. */
type Unchecked<T> = { readonly [Name in keyof T]: unknown };

const METHODS: readonly unknown[] = ["GET", "HEAD", "POST"];
const VIAS: readonly unknown[] = CREATED_VIA;
const KINDS: readonly unknown[] = CLICK_KINDS;
const DEVICES: readonly unknown[] = DEVICE_TYPES;
const UTM: ReadonlySet<string> = new Set(UTM_FIELDS);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Without 29 February, which is not in every year. */
const MOMENT =
  /^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Members that are always there. */
const REQUIRED = 10;

/**
 * Whether the schema takes the data, and leaves them as they are: checked by hand, in a quarter of the schema's time, as those
 * who read the log meet millions of clicks. False says nothing: the schema is to be asked, as for a member that it doesn't know.
 */
export function isPlainClick(data: unknown): data is Click {
  if (typeof data !== "object" || data === null) return false;
  const click = data as Unchecked<Click>;
  const hasRequired =
    typeof click.link === "string" &&
    Number.isSafeInteger(click.linkRevision) &&
    typeof click.longUrl === "string" &&
    typeof click.accountId === "string" &&
    UUID.test(click.accountId) &&
    VIAS.includes(click.via) &&
    typeof click.at === "string" &&
    MOMENT.test(click.at) &&
    KINDS.includes(click.kind) &&
    typeof click.rules === "string" &&
    METHODS.includes(click.method) &&
    DEVICES.includes(click.device);
  if (!hasRequired || !isNamed(click.browser) || !isNamed(click.os) || !isUtm(click.utm)) return false;
  const optional =
    texts(click.rule, click.userAgent, click.ip, click.country, click.region, click.city) +
    texts(click.referrer, click.language, click.prefetch, click.visitor, click.accountVisitor) +
    (click.browser === undefined ? 0 : 1) +
    (click.os === undefined ? 0 : 1) +
    (click.utm === undefined ? 0 : 1);
  return Object.keys(click).length === REQUIRED + optional;
}

/** How many are texts. */
function texts(...values: unknown[]): number {
  let count = 0;
  for (const value of values) if (typeof value === "string") count += 1;
  return count;
}

function isNamed(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  const { name, version } = value as { name?: unknown; version?: unknown };
  return typeof name === "string" && Object.keys(value).length === 1 + texts(version);
}

function isUtm(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const name in value)
    if (!UTM.has(name) || typeof (value as Record<string, unknown>)[name] !== "string") return false;
  return true;
}
