// Our own export (src/export/account-lines.ts): everything of a link and of a click but ids of another service's accounts.
import { z } from "zod";
import { clickEvents } from "../../events/click-events.ts";
import { CREATED_VIA } from "../../events/vocabulary.ts";
import { type ImportFormat, RecordRefused, type Row } from "../imported.ts";

export const EXPORT_TYPE = "linkledger-export";
export const EXPORT_VERSION = 1;
/** Of a line about an event that could not be read. */
export const UNREADABLE_TYPE = "unreadable";

const at = z.iso.datetime();
/** `domain`: null on the base host. */
const address = { domain: z.string().nullable(), slug: z.string() };

export const ExportedLink = z.object({
  type: z.literal("link"),
  ...address,
  long_url: z.string(),
  status: z.enum(["live", "disabled", "deleted"]),
  created_at: at,
  via: z.enum(CREATED_VIA),
  custom: z.boolean(),
  changes: z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("LinkRetargeted"), at, from: z.string(), to: z.string() }),
      z.object({ type: z.enum(["LinkDisabled", "LinkEnabled", "LinkDeleted", "LinkRestored"]), at }),
    ]),
  ),
});

export const ExportedClick = z.object({
  type: z.literal("click"),
  ...address,
  id: z.string(),
  click: clickEvents.LinkClicked.schema.omit({ link: true, slug: true, shortUrl: true, accountId: true }),
});

export const linkledger: ImportFormat = {
  oneFile: true,
  linkOf(row) {
    if (row.value.type === EXPORT_TYPE && row.value.version !== EXPORT_VERSION)
      throw new RecordRefused(
        `the file is of version ${row.value.version}, this program reads ${EXPORT_VERSION}`,
      );
    if (row.value.type !== "link") return undefined;
    const link = read(ExportedLink, row);
    const retargeted = link.changes.find((change) => change.type === "LinkRetargeted");
    return {
      slug: link.slug,
      domain: link.domain ?? undefined,
      longUrl: retargeted?.type === "LinkRetargeted" ? retargeted.from : link.long_url,
      createdAt: link.created_at,
      changes: link.changes,
      via: link.via,
      custom: link.custom,
    };
  },
  clicksOf(row) {
    if (row.value.type === EXPORT_TYPE) return [];
    if (row.value.type === UNREADABLE_TYPE)
      throw new RecordRefused("an event that could not be read when the file was exported");
    if (row.value.type !== "click")
      throw new RecordRefused("not a record of `export links` or `export account`");
    const { domain, slug, id, click } = read(ExportedClick, row);
    return [{ link: { domain: domain ?? undefined, slug }, identity: id, own: click }];
  },
};

function read<T extends z.ZodType>(schema: T, { value }: Row): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new RecordRefused(z.prettifyError(result.error).replace(/\s*\n\s*/g, " "));
}
