// Reads a file of records as CSV with a header, JSON lines, or a JSON document; JSON may come in the pages of an API.
import { createReadStream, type ReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parse } from "csv-parse";
import { messageOf } from "../runtime/errors.ts";
import { isObject } from "../runtime/is-object.ts";
import { Refused } from "../runtime/refused.ts";
import type { Fields } from "./imported.ts";

/** `place`: where it is in the file, such as `line 17`. `columns`: of the file's first line, if it has one. */
export type Row = { place: string; record: Fields; columns?: readonly string[] };

/** A record that can't be read comes as the error that says so. */
export type RowOrError = Row | { place: string; error: Refused };

const START_BYTES = 1_048_576;

/** CSV and JSON lines are streamed; a JSON document is read as a whole. @throws what reading the file throws */
export async function* readRows(file: string): AsyncGenerator<RowOrError> {
  const start = await startOf(file);
  const isCsv = !/^\s*[[{]/.test(start);
  if (!isCsv && !isJson(start.slice(0, start.indexOf("\n") + 1 || undefined))) {
    yield* recordsOf(await readFile(file, "utf8"), "document", (n) => `record ${n}`);
    return;
  }
  const source = createReadStream(file);
  try {
    yield* isCsv ? csvRows(source) : jsonLines(source);
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function* csvRows(source: ReadStream): AsyncGenerator<RowOrError> {
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
    ...{ bom: true, info: true, relax_column_count: true, skip_empty_lines: true },
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
  const lines = createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const text of lines) {
    line += 1;
    if (text.trim() === "") continue;
    const place = `line ${line}`;
    yield* recordsOf(text, place, (n) => `${place}, record ${n}`);
  }
}

/** Members that hold the records of an API's page. */
const PAGES = ["shortUrls", "visits", "links", "data"];

/** `whole`: the place of the text; `part`: the place of a record in a list. */
function* recordsOf(text: string, whole: string, part: (n: number) => string): Generator<RowOrError> {
  let document: unknown;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    yield unreadable(whole, `it is no JSON: ${messageOf(cause)}`, cause);
    return;
  }
  const list = listIn(document);
  for (const [index, value] of (list ?? [document]).entries()) {
    const place = list ? part(index + 1) : whole;
    yield isObject(value) ? { place, record: value } : unreadable(place, "it is no JSON object");
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
