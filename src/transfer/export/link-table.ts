// An account's links as a table, for spreadsheets and for `linkledger import csv`.
import { FIELD_NAMES, fieldsOf } from "../../commands/links/fields/link-fields.ts";
import { Refused } from "../../runtime/refused.ts";
import { type AccountLinesDeps, accountLinks } from "./account-lines.ts";
import { csvCell } from "./click-lines.ts";

const COLUMNS = ["url", "slug", "domain", ...FIELD_NAMES, "disabled", "created_at"] as const;

type Cells = { readonly [column in (typeof COLUMNS)[number]]?: unknown };

/**
 * One row a link that is not deleted, as it is now; a password is its argon2id hash.
 * @throws record_refused for a link that can't be read, as a table can't say so; EventNewer
 */
export async function* linkTable(deps: AccountLinesDeps, accountId: string): AsyncGenerator<string> {
  yield `${COLUMNS.join()}\r\n`;
  for await (const link of accountLinks(deps, accountId, (error) => refuse(error))) {
    const { host, slug, state, passwordHash } = link;
    if (state.deleted) continue;
    const cells: Cells = {
      ...fieldsOf(state),
      url: state.longUrl,
      slug,
      domain: host === deps.baseHost ? undefined : host,
      password: passwordHash,
      disabled: state.status === "live" ? undefined : true,
      created_at: state.createdAt,
    };
    yield `${COLUMNS.map((column) => csvCell(cellOf(cells[column]))).join()}\r\n`;
  }
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
  throw new Refused(
    "record_refused",
    `A link can't be read: ${error}. Without --format csv its line says so`,
  );
}
