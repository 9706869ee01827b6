// Reads a file of records: CSV with a header, separated by commas, semicolons or tabs; JSON lines, or JSON as a
// whole, both also in the pages of an API.
import { createReadStream, type ReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { parse } from "csv-parse";
import { messageOf } from "../../runtime/errors.ts";
import { isObject } from "../../runtime/is-object.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Fields } from "./imported.ts";
import { jsonValues, startsWithJson } from "./json-values.ts";

/** `place`: where it is in the file, such as `line 17`. `columns`: of the file's first line, if it has one. */
export type Row = { place: string; record: Fields; columns?: readonly string[] };

/** A record that can't be read comes as the error that says so. */
export type RowOrError = Row | { place: string; error: Refused };

const START_BYTES = 1_048_576;

/**
 * CSV and JSON lines, whose first line holds whole values, are streamed; other JSON is read as a whole.
 * @throws what reading the file throws
 */
export async function* readRows(file: string): AsyncGenerator<RowOrError> {
  const start = await startOf(file);
  const isCsv = !/^\s*[[{]/.test(start);
  if (!isCsv && !startsWithJson(start.slice(0, start.indexOf("\n") + 1 || undefined))) {
    yield* recordsOf(await readFile(file, "utf8"), "document", (n) => `record ${n}`);
    return;
  }
  const source = createReadStream(file);
  try {
    yield* isCsv ? csvRows(source, delimiterOf(start)) : jsonLines(source);
  } finally {
    source.destroy();
  }
}

async function startOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF/, "");
  } finally {
    await handle.close();
  }
}

const DELIMITERS = [",", ";", "\t"] as const;

/** What parts the names of the header most often, outside of quotes; a comma for a single name. */
function delimiterOf(start: string): string {
  const header = (/^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(start)?.[0] ?? "").replace(/"(?:[^"]|"")*"/g, "");
  const count = (delimiter: string) => header.split(delimiter).length;
  return DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best));
}

/** As databases write that there is nothing; in quotes NULL is a text. */
function isNothing(value: string, isQuoted: boolean): boolean {
  return value === "\\N" || (value === "NULL" && !isQuoted);
}

async function* csvRows(source: ReadStream, delimiter: string): AsyncGenerator<RowOrError> {
  let columns: string[] = [];
  let skippedLine: unknown;
  const parser = parse({
    columns(names: string[]) {
      columns = names.map((name) =>
        name
          .trim()
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, "_"),
      );
      return columns;
    },
    cast: (value, { header, quoting }) => (!header && isNothing(value, quoting) ? null : value),
    ...{ delimiter, bom: true, info: true, relax_column_count: true },
    // Spreadsheets write rows of separators alone.
    ...{ skip_empty_lines: true, skip_records_with_empty_values: true },
    skip_records_with_error: true,
    on_skip(error) {
      // One record may have several errors. Pushed among the records, they keep their order and the backpressure.
      if (error?.lines !== skippedLine) parser.push({ error });
      skippedLine = error?.lines;
      return undefined;
    },
  });
  for await (const { record, info, error } of source.pipe(parser))
    yield error
      ? unreadable(`line ${error.lines}`, error.message, error)
      : { place: `line ${info.lines}`, record, columns };
}

function unreadable(place: string, why: string, cause?: unknown): RowOrError {
  return { place, error: new Refused("record_refused", why, { cause }) };
}

async function* jsonLines(source: ReadStream): AsyncGenerator<RowOrError> {
  let line = 0;
  for await (const text of linesOf(source)) {
    line += 1;
    if (text.trim() === "") continue;
    const place = `line ${line}`;
    yield* recordsOf(text, place, (n) => `${place}, record ${n}`);
  }
}

/** By line feeds alone: node:readline also ends lines at U+2028, which JSON has in texts. */
async function* linesOf(source: ReadStream): AsyncGenerator<string> {
  let parts: string[] = [];
  for await (const chunk of source.setEncoding("utf8") as AsyncIterable<string>) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      yield [...parts, chunk.slice(start, end)].join("");
      parts = [];
      start = end + 1;
    }
    parts.push(chunk.slice(start));
  }
  yield parts.join("");
}

/** Members that hold the records of an API's page. */
const PAGES = ["shortUrls", "visits", "links", "data"];

/** `whole`: the place of the text; `part`: the place of a record, where there are several. */
function* recordsOf(text: string, whole: string, part: (n: number) => string): Generator<RowOrError> {
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
      yield isObject(value) ? { place, record: value } : unreadable(place, "it is no JSON object");
    }
  }
}

/** Undefined for a single record. */
function listIn(document: unknown): unknown[] | undefined {
  if (Array.isArray(document)) return document;
  if (typeof document !== "object" || document === null) return undefined;
  for (const name of PAGES) {
    const page = (document as Record<string, unknown>)[name];
    if (typeof page !== "object" || page === null) continue;
    // YOURLS numbers its records: { link_1: {}, link_2: {} }.
    return listIn(page) ?? Object.values(page);
  }
  return undefined;
}
