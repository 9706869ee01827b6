// Reads a file of records as CSV with a header, JSON lines, or a JSON document; JSON may come in the pages of an API.
import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parse } from "csv-parse";
import { messageOf } from "../runtime/errors.ts";
import { RecordRefused, type Row } from "./imported.ts";

/** A row that can't be read comes as the error that says so. */
export type RowOrError = Row | { place: string; error: RecordRefused };

/** CSV and JSON lines are streamed; a JSON document is read as a whole. @throws what reading the file throws */
export async function* readRows(file: string): AsyncGenerator<RowOrError> {
  const start = await startOf(file);
  if (!/^\s*[[{]/.test(start)) yield* csvRows(file);
  else if (isJson(start.slice(0, start.indexOf("\n") + 1 || undefined))) yield* jsonLines(file);
  else yield* recordsOf(JSON.parse(await readFile(file, "utf8")), (n) => `record ${n}`);
}

const START_BYTES = 1_048_576;

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

async function* csvRows(file: string): AsyncGenerator<RowOrError> {
  const columns = (names: string[]) =>
    names.map((name) =>
      name
        .trim()
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "_"),
    );
  const options = { columns, bom: true, info: true, relax_column_count: true, skip_empty_lines: true };
  for await (const { record, info } of createReadStream(file).pipe(parse(options)))
    yield { place: `line ${info.lines}`, value: record };
}

async function* jsonLines(file: string): AsyncGenerator<RowOrError> {
  let line = 0;
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const text of lines) {
    line += 1;
    if (text.trim() === "") continue;
    const place = `line ${line}`;
    try {
      yield* recordsOf(JSON.parse(text.replace(/^\uFEFF/, "")), (n, many) =>
        many ? `${place}, record ${n}` : place,
      );
    } catch (cause) {
      yield { place, error: new RecordRefused(`it is no JSON: ${messageOf(cause)}`, { cause }) };
    }
  }
}

/** Members that hold the records of an API's page. */
const PAGES = ["shortUrls", "visits", "links", "data"];

function* recordsOf(document: unknown, place: (n: number, many: boolean) => string): Generator<Row> {
  const list = listIn(document);
  for (const [index, value] of (list ?? [document]).entries())
    yield { place: place(index + 1, list !== undefined), value: value as Row["value"] };
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
