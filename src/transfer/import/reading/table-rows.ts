// Rows of a table with a line of column names, separated by commas, semicolons or tabs; or of a list of addresses.

import { Refused } from "../../../commands/refusals.ts";
import { cleanText } from "../../../events/classification/clean-text.ts";
import { readGuardNote, unguarded } from "../../csv-cells.ts";
import { type CsvForm, type CsvRecord, csvFormOf, csvReader } from "./csv.ts";
import { DECODING_REFUSAL, UNDECODED } from "./lines.ts";
import { type RowOrError, type Start, unreadable } from "./row.ts";

const ADDRESS = /^\s*https?:\/\//i;
/** Such as another service has. Numbers alone may be anything, such as clicks. */
const SLUG = /^(?!\d+$)[\w-]{1,100}$/;
/** Parts the cells of a single column, whatever is in its addresses. */
const NOTHING = "\0";
/** By which spreadsheets are told what parts the cells. */
const SEPARATOR_LINE = /^"?sep=(.)"?(?:\r\n|\r|\n|$)/i;

/** `columns`: where no line names them. */
type Layout = { form: CsvForm; columns: string[] | undefined };

/** @throws wrong_format for a header that can't be read, names a column twice or is missing */
export async function* tableRows(
  file: string,
  lines: AsyncIterable<string>,
  start: Start,
  names: readonly string[],
): AsyncGenerator<RowOrError> {
  const layout = layoutOf(file, start);
  let { columns } = layout;
  let isGuarded = false;
  const take = csvReader(layout.form);
  // Spreadsheets write rows of separators alone, which in a list of addresses part nothing.
  const blank = layout.form.delimiter === NOTHING ? /^[\s,;]*$/ : /^\s*$/;
  let hasSeparatorLine = SEPARATOR_LINE.test(start.lines[0] ?? "");
  for await (const record of recordsIn(lines, take)) {
    if (hasSeparatorLine) {
      hasSeparatorLine = false;
      continue;
    }
    const place = placeOf(record);
    if ("cells" in record && record.cells.every((cell) => blank.test(cell ?? ""))) continue;
    if (!columns) ({ columns, isGuarded } = headerOf(file, record, names));
    else if ("error" in record) yield unreadable(place, record.error, undefined, record.rows);
    else if (isDamaged(record.cells)) yield unreadable(place, DECODING_REFUSAL);
    else if (record.cells.slice(columns.length).some((cell) => cell !== null && cell !== ""))
      yield unreadable(
        place,
        `it has ${record.cells.length} fields, the header ${columns.length}: one that holds the separator needs quotes`,
      );
    else {
      const cells = isGuarded ? record.cells.map((cell) => cell && unguarded(cell)) : record.cells;
      const fields = columns.map((column, n) => [column, cells[n]] as const);
      yield { place, record: Object.fromEntries(fields), columns };
    }
  }
}

/**
 * By the first lines of the file. A first row with an address in it is no header: then the columns are told by what is in them.
 * @throws wrong_format where they can't be
 */
function layoutOf(file: string, { lines: all, isAll }: Start): Layout {
  const [, separator] = SEPARATOR_LINE.exec(all[0] ?? "") ?? [];
  const behind = all.slice(separator === undefined ? 0 : 1);
  const lines = behind.slice(behind.findIndex((line) => /[^\s,;"]/.test(line)));
  const [first = ""] = lines[0]?.trimStart().split(/[\r\n]/) ?? [];
  const parts = csvFormOf(lines, isAll, separator);
  const list = { delimiter: NOTHING, quotes: lines.some((line) => line.startsWith('"')), escapes: false };
  const isSingle = !first.includes(parts.delimiter);
  const hasHeader = !first.split(/[,;\t]/).some((cell) => ADDRESS.test(cell.replace(/^"/, "")));
  if (hasHeader) return { form: isSingle ? list : parts, columns: undefined };
  const take = csvReader(parts);
  const read = [...lines, ...(isAll ? [undefined] : [])].flatMap((line) => [...take(line)]);
  const records = read.flatMap((record) => ("cells" in record ? [record.cells] : []));
  const cells = records
    .map((row) => row.map((cell) => cell?.trim() ?? ""))
    .filter((row) => row.some(Boolean));
  const widths = new Set(cells.map(({ length }) => length));
  const width = Math.max(...widths);
  const columnOf = (n: number) => cells.map((row) => row[n] ?? "");
  const isAddresses = (n: number) => columnOf(n).every((cell) => ADDRESS.test(cell));
  if (width === 2) {
    const isSlugs = (n: number) => {
      const rows = new Map(cells.filter((row) => row[n]).map((row) => [row.join(), row[n] ?? ""]));
      const slugs = new Set(rows.values());
      return slugs.size > 0 && slugs.size === rows.size && [...slugs].every((slug) => SLUG.test(slug));
    };
    if (isAddresses(0) && isSlugs(1)) return { form: parts, columns: ["url", "slug"] };
    if (isSlugs(0) && isAddresses(1)) return { form: parts, columns: ["slug", "url"] };
  }
  if (width === 1 || (widths.size > 1 && isAddresses(0))) return { form: list, columns: ["url"] };
  throw new Refused(
    "wrong_format",
    `${file} has no line of column names: put one above, such as url,slug,title, or url alone above addresses that hold “${parts.delimiter}”`,
  );
}

async function* recordsIn(lines: AsyncIterable<string>, take: ReturnType<typeof csvReader>) {
  for await (const line of lines) yield* take(line);
  yield* take(undefined);
}

function isDamaged(cells: readonly (string | null)[]): boolean {
  return cells.some((cell) => cell?.includes(UNDECODED));
}

function placeOf({ line, lastLine, ...record }: CsvRecord): string {
  return "error" in record && record.rows > 1 ? `lines ${line} to ${lastLine}` : `line ${line}`;
}

/** @throws wrong_format */
function headerOf(
  file: string,
  header: CsvRecord,
  names: readonly string[],
): { columns: string[]; isGuarded: boolean } {
  if (!("cells" in header)) throw new Refused("wrong_format", `${file}, header: ${header.error}`);
  if (isDamaged(header.cells)) throw new Refused("wrong_format", `${file}, header: ${DECODING_REFUSAL}`);
  const nameOf = new Map(names.map((name) => [folded(name), name] as const).reverse());
  const { name: first, isGuarded } = readGuardNote(header.cells[0] ?? "");
  const columns = header.cells.with(0, first).map((cell, n) => {
    const snake = (cell ?? "")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "_");
    return nameOf.get(folded(cell ?? "")) ?? (snake || `column_${n + 1}`);
  });
  const named = new Set<string>();
  const twice = columns.find((column) => named.has(column) || !named.add(column));
  if (twice === undefined) return { columns, isGuarded };
  const written = header.cells.filter((_, n) => columns[n] === twice).join(" and ");
  throw new Refused(
    "wrong_format",
    `${file} has two columns of one name: ${cleanText(written, 200)}. Which one counts is not for us to say`,
  );
}

/** `shortCode`, `Short code` and `short_code` are one name. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
