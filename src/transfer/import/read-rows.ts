// Reads a file of records: CSV with a header, separated by commas, semicolons or tabs; JSON lines, or JSON as a
// whole, both also in the pages of an API; or a list of URLs.
import { cleanText } from "../../events/classification/clean-text.ts";
import { messageOf } from "../../runtime/errors.ts";
import { isObject } from "../../runtime/is-object.ts";
import { Refused } from "../../runtime/refused.ts";
import { type CsvForm, type CsvRecord, csvFormOf, csvReader } from "./csv.ts";
import type { Fields } from "./imported.ts";
import { jsonValues, startsWithJson } from "./json-values.ts";
import { DECODING_REFUSAL, LONGEST_LINE, linesOf, type Source, UNDECODED } from "./lines.ts";

/** `place`: where it is in the file, such as `line 17`. `columns`: of the file's first line, if it has one. */
export type Row = { place: string; record: Fields; columns?: readonly string[] };

/** What can't be read comes as the error that says so. `rows`: how many records it stands for. */
export type RowOrError = Row | { place: string; error: Refused; rows: number };

/**
 * `names`: of the fields that are known, which columns are called by however they are written. `encoding`, `onBytes`: as
 * of linesOf.
 */
export type Reading = {
  names?: readonly string[];
  encoding?: string | undefined;
  onBytes?: (count: number) => void;
};

const START_CHARACTERS = 1_048_576;
const DEEPEST = 50;
const URL_ALONE = /^"?https?:\/\//i;

/**
 * CSV and JSON lines, whose first line holds whole values, are streamed; other JSON is read as a whole.
 * @throws wrong_format for a header that can't be read or names a column twice, and for a document that is too large;
 * what reading the file throws
 */
export async function* readRows(
  source: Source,
  { names = [], encoding, onBytes = () => undefined }: Reading = {},
): AsyncGenerator<RowOrError> {
  const lines = linesOf(source, encoding, onBytes);
  const first = await startOf(lines);
  const rest = async function* () {
    yield* first.lines;
    yield* lines;
  };
  const beginning = first.lines.find((line) => line.trim() !== "") ?? "";
  if (!/^\s*[[{]/.test(beginning)) yield* csvRows(source.name, rest(), first, names);
  else if (startsWithJson(beginning)) yield* jsonLines(rest());
  else {
    if ((await source.size()) > LONGEST_LINE)
      throw new Refused(
        "wrong_format",
        `${source.name} is too large for one document of JSON: give it as JSON lines`,
      );
    const text = (await Array.fromAsync(rest())).join("");
    yield* recordsOf(text, "document", (n) => `record ${n}`);
  }
}

/** What tells how a file is written. `isAll`: it has no more lines. */
type Start = { lines: string[]; isAll: boolean };

async function startOf(lines: AsyncGenerator<string>): Promise<Start> {
  const start: string[] = [];
  for (let length = 0; length < START_CHARACTERS; ) {
    const { value, done } = await lines.next();
    if (done) return { lines: start, isAll: true };
    start.push(value);
    length += value.length;
  }
  return { lines: start, isAll: false };
}

/** A single column has nothing that parts cells, whatever is in its URLs. */
function formOf({ lines, isAll }: Start): CsvForm {
  const [first = ""] = lines;
  const isList = URL_ALONE.test(first) || /^[^,;\t\r\n]*(\r|\n|$)/.test(first);
  if (!isList) return csvFormOf(lines, isAll);
  return { delimiter: "\0", quotes: lines.some((line) => line.startsWith('"')), escapes: false };
}

async function* csvRows(
  file: string,
  lines: AsyncIterable<string>,
  start: Start,
  names: readonly string[],
): AsyncGenerator<RowOrError> {
  let columns = URL_ALONE.test(start.lines[0] ?? "") ? ["url"] : undefined;
  const take = csvReader(formOf(start));
  for await (const record of recordsIn(lines, take)) {
    const place = placeOf(record);
    // Spreadsheets write rows of separators alone.
    if ("cells" in record && record.cells.every((cell) => cell === null || cell.trim() === "")) continue;
    if (!columns) columns = headerOf(file, record, names);
    else if ("error" in record) yield unreadable(place, record.error, undefined, record.rows);
    else if (isDamaged(record.cells)) yield unreadable(place, DECODING_REFUSAL);
    else if (record.cells.slice(columns.length).some((cell) => cell !== null && cell !== ""))
      yield unreadable(
        place,
        `it has ${record.cells.length} fields, the header ${columns.length}: one that holds the separator needs quotes`,
      );
    else {
      const fields = columns.map((column, n) => [column, record.cells[n]] as const);
      yield { place, record: Object.fromEntries(fields), columns };
    }
  }
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
function headerOf(file: string, header: CsvRecord, names: readonly string[]): string[] {
  if (!("cells" in header)) throw new Refused("wrong_format", `${file}, header: ${header.error}`);
  if (isDamaged(header.cells)) throw new Refused("wrong_format", `${file}, header: ${DECODING_REFUSAL}`);
  const known = new Map(names.map((name) => [folded(name), name] as const).reverse());
  const columns = header.cells.map((cell, n) => {
    const snake = (cell ?? "")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "_");
    return known.get(folded(cell ?? "")) ?? (snake || `column_${n + 1}`);
  });
  const twice = columns.find((column, n) => columns.indexOf(column) < n);
  if (twice === undefined) return columns;
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

function unreadable(place: string, why: string, cause?: unknown, rows = 1): RowOrError {
  return { place, error: new Refused("record_refused", why, { cause }), rows };
}

async function* jsonLines(lines: AsyncIterable<string>): AsyncGenerator<RowOrError> {
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const place = `line ${line}`;
    if (text.trim() !== "") yield* recordsOf(text, place, (n) => `${place}, record ${n}`);
  }
}

/** Members that hold the records of an API's page. */
const PAGES = ["shortUrls", "visits", "links", "data"];

/** `whole`: the place of the text; `part`: the place of a record, where there are several. */
function* recordsOf(text: string, whole: string, part: (n: number) => string): Generator<RowOrError> {
  const isDecoded = !text.includes(UNDECODED);
  const values = [...jsonValues(text)];
  let count = 0;
  for (const parsed of values) {
    if ("error" in parsed) {
      const place = values.length > 1 ? part(++count) : whole;
      yield unreadable(place, `it is no JSON: ${messageOf(parsed.error)}`, parsed.error);
      continue;
    }
    const list = listIn(parsed.value);
    for (const value of list ?? [parsed.value]) {
      const place = list || values.length > 1 ? part(++count) : whole;
      if (!isObject(value)) yield unreadable(place, "it is no JSON object");
      else if (isDeeper(value, DEEPEST))
        yield unreadable(place, `it is nested deeper than ${DEEPEST} levels`);
      else if (!isDecoded && JSON.stringify(value).includes("\\ud800\\ud800"))
        yield unreadable(place, DECODING_REFUSAL);
      else yield { place, record: value };
    }
  }
}

/** Whether a value has more levels than that: what walks it further calls itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** Undefined for a single record. */
function listIn(document: unknown, levels = DEEPEST): unknown[] | undefined {
  if (Array.isArray(document)) return document;
  if (!isObject(document) || levels === 0) return undefined;
  for (const name of PAGES) {
    const page = document[name];
    if (typeof page !== "object" || page === null) continue;
    // YOURLS numbers its records: { link_1: {}, link_2: {} }.
    return listIn(page, levels - 1) ?? Object.values(page);
  }
  return undefined;
}
