// An account's links as a table, which `linkledger import csv` reads.
import { FIELD_NAMES, fieldsOf } from "../../commands/links/fields/link-fields.ts";
import type { LinkOptions } from "../../events/link-options.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { Failure } from "../../runtime/errors.ts";
import { csvLines } from "../csv-cells.ts";
import { type AccountLinesDeps, accountLinks } from "./account-lines.ts";

const COLUMNS = [
  ...(["url", "slug", "domain", ...FIELD_NAMES] as const),
  ...(["has_password", "status", "disabled", "created_at"] as const),
] as const;

type Cells = { readonly [column in (typeof COLUMNS)[number]]?: unknown };

/**
 * One row a link as it is now, of this status, or of all that are not deleted; a password is its argon2id hash. `forSpreadsheets`:
 * as of csvLines.
 * @throws Failure for a link that can't be read, as a table can't say so; EventNewer
 */
export async function* linkTable(
  deps: AccountLinesDeps,
  accountId: string,
  { status: wanted, forSpreadsheets }: { status?: LinkStatus | undefined; forSpreadsheets?: boolean } = {},
): AsyncGenerator<string> {
  const { head, line } = csvLines(COLUMNS, forSpreadsheets);
  yield head;
  for await (const link of accountLinks(deps, accountId, (error) => refuse(error))) {
    const { host, slug, state, status, passwordHash } = link;
    if (wanted === undefined ? status === "deleted" : status !== wanted) continue;
    const cells = { ...cellsOf({ ...state, host, slug, status }, deps.baseHost), password: passwordHash };
    yield line(COLUMNS.map((column) => cellOf(cells[column])));
  }
}

/** A link of a list, with the clicks of people. `madeBy`: what readers call the member or the key. */
type CountedLink = Parameters<typeof cellsOf>[0] & { shortUrl: string; clicks: number; madeBy: string };

const COUNTED = csvLines(["short_url", ...COLUMNS, "made_by", "clicks"], true);

/** The columns of linkTable for spreadsheets, after the short URL, before who made it and the clicks; without passwords. */
export const COUNTED_HEAD = COUNTED.head;

export function countedRow(link: CountedLink, baseHost: string): string {
  const cells = cellsOf(link, baseHost);
  const row = [link.shortUrl, ...COLUMNS.map((column) => cells[column]), link.madeBy, link.clicks];
  return COUNTED.line(row.map(cellOf));
}

function cellsOf(
  link: LinkOptions & {
    host: string;
    slug: string;
    longUrl: string;
    status: LinkStatus;
    disabled: boolean;
    createdAt: string;
  },
  baseHost: string,
): Cells {
  const { host, slug, longUrl, status, disabled, createdAt } = link;
  return {
    ...fieldsOf(link),
    url: longUrl,
    slug,
    domain: host === baseHost ? undefined : host,
    status,
    disabled: disabled ? true : undefined,
    created_at: createdAt,
  };
}

/** Lists of plain texts by commas, all else that is no text as JSON. */
function cellOf(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value !== "object") return String(value);
  const isPlain =
    Array.isArray(value) && value.every((text) => typeof text === "string" && !/[,;|[]/.test(text));
  return isPlain ? value.join(", ") : JSON.stringify(value);
}

function refuse(error: string): never {
  throw new Failure(`A link can't be read: ${error}. Without --format csv its line says so`);
}
