// Reads a file of records: CSV with a header, separated by commas, semicolons or tabs; JSON lines, or JSON as a
// whole, both also in the pages of an API; or a list of URLs.
import { stat } from "node:fs/promises";
import { cleanText } from "../../events/classification/clean-text.ts";
import { messageOf } from "../../runtime/errors.ts";
import { isObject } from "../../runtime/is-object.ts";
import { Refused } from "../../runtime/refused.ts";
import { type CsvForm, type CsvRecord, csvFormOf, csvRecords } from "./csv.ts";
import { DECODING_REFUSAL, decodedFile, UNDECODED } from "./decode.ts";
import type { Fields } from "./imported.ts";
import { jsonValues, startsWithJson } from "./json-values.ts";

/** `place`: where it is in the file, such as `line 17`. `columns`: of the file's first line, if it has one. */
export type Row = { place: string; record: Fields; columns?: readonly string[] };

/** What can't be read comes as the error that says so. `rows`: how many records it stands for. */
export type RowOrError = Row | { place: string; error: Refused; rows: number };

/**
 * `names`: of the fields that are known, which columns are called by however they are written. `encoding`, `onBytes`: as
 * of decodedFile.
 */
export type Reading = {
  names?: readonly string[];
  encoding?: string | undefined;
  onBytes?: (count: number) => void;
};

const START_CHARACTERS = 1_048_576;
const LONGEST_LINE = 67_108_864;
const LARGEST_DOCUMENT = 402_653_184;
const DEEPEST = 50;
const URL_ALONE = /^"?https?:\/\//i;

/**
 * CSV and JSON lines, whose first line holds whole values, are streamed; other JSON is read as a whole.
 * @throws wrong_format for a header that can't be read or names a column twice, and for a document that is too large;
 * what reading the file throws
 */
export async function* readRows(
  file: string,
  { names = [], encoding, onBytes = () => undefined }: Reading = {},
): AsyncGenerator<RowOrError> {
  const { start, isWhole, rest } = await started(decodedFile(file, encoding, onBytes));
  if (!/^\s*[[{]/.test(start)) yield* csvRows(file, rest, start, isWhole, names);
  else if (startsWithJson(start.slice(0, start.indexOf("\n") + 1 || undefined))) yield* jsonLines(rest);
  else {
    const { size } = await stat(file);
    if (size > LARGEST_DOCUMENT)
      throw new Refused(
        "wrong_format",
        `${file} is too large for one document of JSON: give it as JSON lines`,
      );
    const parts = await Array.fromAsync(rest);
    yield* recordsOf(parts.join(""), "document", (n) => `record ${n}`);
  }
}

/** `rest`: all of the text, that of `start` too. */
async function started(text: AsyncGenerator<string>) {
  let start = "";
  let isWhole = false;
  while (!isWhole && start.length < START_CHARACTERS) {
    const { value, done } = await text.next();
    if (done) isWhole = true;
    else start += value;
  }
  const rest = async function* () {
    yield start;
    yield* text;
  };
  return { start, isWhole, rest: rest() };
}

/** A single column has nothing that parts cells, whatever is in its URLs. */
function formOf(start: string, isWhole: boolean): CsvForm {
  const isList = URL_ALONE.test(start) || /^[^,;\t\r\n]*(\r|\n|$)/.test(start);
  return isList ? { delimiter: "\0", quotes: /^"/m.test(start), escapes: false } : csvFormOf(start, isWhole);
}

async function* csvRows(
  file: string,
  chunks: AsyncIterable<string>,
  start: string,
  isWhole: boolean,
  names: readonly string[],
): AsyncGenerator<RowOrError> {
  let columns = URL_ALONE.test(start) ? ["url"] : undefined;
  for await (const found of csvRecords(chunks, formOf(start, isWhole))) {
    const place = placeOf(found);
    // Spreadsheets write rows of separators alone.
    if ("cells" in found && found.cells.every((cell) => cell === null || cell.trim() === "")) continue;
    if (!columns) columns = headerOf(file, found, names);
    else if ("error" in found) yield unreadable(place, found.error, undefined, found.rows);
    else if (found.text.includes(UNDECODED)) yield unreadable(place, DECODING_REFUSAL);
    else if (found.cells.slice(columns.length).some((cell) => cell !== null && cell !== ""))
      yield unreadable(
        place,
        `it has ${found.cells.length} fields, the header ${columns.length}: one that holds the separator needs quotes`,
      );
    else {
      const record = Object.fromEntries(columns.map((column, n) => [column, found.cells[n]]));
      yield { place, record, columns };
    }
  }
}

function placeOf({ line, lastLine, ...found }: CsvRecord): string {
  return "error" in found && found.rows > 1 ? `lines ${line} to ${lastLine}` : `line ${line}`;
}

/** @throws wrong_format */
function headerOf(file: string, header: CsvRecord, names: readonly string[]): string[] {
  if (!("cells" in header)) throw new Refused("wrong_format", `${file}, header: ${header.error}`);
  if (header.text.includes(UNDECODED))
    throw new Refused("wrong_format", `${file}, header: ${DECODING_REFUSAL}`);
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

async function* jsonLines(chunks: AsyncIterable<string>): AsyncGenerator<RowOrError> {
  let line = 0;
  for await (const text of linesOf(chunks)) {
    line += 1;
    const place = `line ${line}`;
    if (text === undefined) yield unreadable(place, "it is too long");
    else if (text.trim() !== "") yield* recordsOf(text, place, (n) => `${place}, record ${n}`);
  }
}

/** By line feeds alone, as JSON has U+2028 in texts; undefined for a line that is too long. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string | undefined> {
  let parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    length += part.length;
    parts = length > LONGEST_LINE ? [] : [...parts, part];
  };
  const line = () => (length > LONGEST_LINE ? undefined : parts.join(""));
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      add(chunk.slice(start, end));
      yield line();
      [parts, length, start] = [[], 0, end + 1];
    }
    add(chunk.slice(start));
  }
  yield line();
}

/** Members that hold the records of an API's page. */
const PAGES = ["shortUrls", "visits", "links", "data"];

/** `whole`: the place of the text; `part`: the place of a record, where there are several. */
function* recordsOf(text: string, whole: string, part: (n: number) => string): Generator<RowOrError> {
  const isDecoded = !text.includes(UNDECODED);
  const values = [...jsonValues(text)];
  let count = 0;
  for (const found of values) {
    if ("error" in found) {
      const place = values.length > 1 ? part(++count) : whole;
      yield unreadable(place, `it is no JSON: ${messageOf(found.error)}`, found.error);
      continue;
    }
    const list = listIn(found.value);
    for (const value of list ?? [found.value]) {
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
