// Our own export (src/export/account-lines.ts): everything of a link and of a click but ids of another service's accounts.
import { z } from "zod";
import { acceptReason } from "../../commands/accept-text.ts";
import { clickEvents } from "../../events/click-events.ts";
import { LINK_STATUSES } from "../../events/link-events.ts";
import { CREATED_VIA, UNKNOWN } from "../../events/vocabulary.ts";
import { Refused } from "../../runtime/refused.ts";
import { timeOf } from "../fields.ts";
import type { ClickFacts, ImportedChange, ImportFormat, Row } from "../imported.ts";

export const EXPORT_TYPE = "linkledger-export";
export const EXPORT_VERSION = 1;
/** Of a line about an event that could not be read. */
export const UNREADABLE_TYPE = "unreadable";

const at = z.string();
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
  changes: z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("LinkRetargeted"), at, from: z.string(), to: z.string() }),
      z.object({ type: z.literal("LinkBlocked"), at, reason: z.string(), legal: z.literal(true).optional() }),
      z.object({
        type: z.enum(["LinkDisabled", "LinkEnabled", "LinkDeleted", "LinkRestored", "LinkUnblocked"]),
        at,
      }),
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
      ...{
        linkRevision: true,
        kind: true,
        method: true,
        userAgent: true,
        device: true,
        browser: true,
        os: true,
      },
      ...{ ip: true, country: true, region: true, city: true, referrer: true, utm: true },
      ...{ language: true, prefetch: true },
    })
    .extend({ at, visitor: code.optional(), accountVisitor: code.optional() }),
});

const CHANGES = {
  LinkDisabled: "disable",
  LinkEnabled: "enable",
  LinkDeleted: "delete",
  LinkRestored: "restore",
  LinkUnblocked: "unblock",
} as const;

function changeOf(change: z.infer<typeof ExportedLink>["changes"][number]): ImportedChange["change"] {
  if (change.type === "LinkRetargeted") return { type: "retarget", to: change.to };
  if (change.type !== "LinkBlocked") return { type: CHANGES[change.type] };
  return { type: "block", reason: acceptReason(change.reason), legal: change.legal === true };
}

export const linkledger: ImportFormat = {
  columns: { links: [["type"]] },
  linkOf(row) {
    if (row.value.type === EXPORT_TYPE && row.value.version !== EXPORT_VERSION)
      throw new Refused(
        "record_refused",
        `the file is of version ${row.value.version}, this program reads ${EXPORT_VERSION}`,
      );
    if (row.value.type !== "link") return undefined;
    const link = read(ExportedLink, row);
    const retargeted = link.changes.find((change) => change.type === "LinkRetargeted");
    return {
      slug: link.slug,
      domain: link.domain ?? undefined,
      longUrl: retargeted?.type === "LinkRetargeted" ? retargeted.from : link.long_url,
      createdAt: timeOf(link.created_at),
      changes: link.changes.map((change) => ({ at: timeOf(change.at), change: changeOf(change) })),
      via: link.via,
      custom: link.custom,
    };
  },
  clicksOf(row) {
    if (row.value.type === EXPORT_TYPE) return [];
    if (row.value.type === UNREADABLE_TYPE)
      throw new Refused("record_refused", "an event that could not be read when the file was exported");
    if (row.value.type !== "click")
      throw new Refused("record_refused", "not a record of `export links` or `export account`");
    const { domain, slug, id, click } = read(ExportedClick, row);
    return [{ link: { domain: domain ?? undefined, slug }, identity: id, isId: true, facts: factsOf(click) }];
  },
};

function factsOf({ visitor, accountVisitor, ...click }: z.infer<typeof ExportedClick>["click"]): ClickFacts {
  return {
    ...click,
    at: timeOf(click.at),
    revision: click.linkRevision,
    referrer: click.referrer === UNKNOWN ? undefined : (click.referrer ?? ""),
    isBot: click.kind === "preview",
    isScan: click.kind === "qr_scan",
    browser: click.browser?.name,
    os: click.os?.name,
    visitors: { visitor, ...(accountVisitor !== undefined && { accountVisitor }) },
  };
}

function read<T extends z.ZodType>(schema: T, { value }: Row): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Refused("record_refused", z.prettifyError(result.error).replace(/\s*\n\s*/g, " "));
}
