// Reads a file of records: a table (table-rows.ts); JSON lines, or JSON as a whole, both also in the pages of an API.

import { Refused } from "../../../commands/refusals.ts";
import { messageOf } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { DEEPEST, isTooDeep, jsonValues, startsWithJson } from "./json-values.ts";
import { DECODING_REFUSAL, LONGEST_LINE, linesOf, type Source, UNDECODED } from "./lines.ts";
import type { PageTally } from "./page-tally.ts";
import { type RowOrError, type Start, unreadable } from "./row.ts";
import { tableRows } from "./table-rows.ts";

/**
 * `names`: of the fields that are known, which columns are called by however they are written. `encoding`, `onBytes`,
 * `signal`: as of linesOf. `pages`: gets the pages of an API.
 */
export type Reading = {
  names?: readonly string[];
  encoding?: string | undefined;
  onBytes?: (count: number) => void;
  pages?: Pick<PageTally, "add">;
  signal?: AbortSignal;
};

const START_CHARACTERS = 1_048_576;

/**
 * Read once, so that pipes can be. Tables and JSON lines, whose first line holds whole values, are streamed; other JSON is read
 * as a whole.
 * @throws wrong_format, before the first row where it can be told by then: for a file without records, with what is there; for
 * a header that can't be read, names a column twice or is missing; and for a document that is too large. What reading the file
 * throws
 */
export async function* readRows(
  source: Source,
  { names = [], encoding, onBytes = () => undefined, pages, signal }: Reading = {},
): AsyncGenerator<RowOrError> {
  let bytes = 0;
  const counted = (count: number) => {
    bytes = count;
    onBytes(count);
  };
  const lines = linesOf(source, encoding, counted, signal);
  const start = await startOf(lines);
  const rest = async function* () {
    yield* start.lines;
    yield* lines;
  };
  const refuse = (why: string): never => {
    signal?.throwIfAborted();
    throw new Refused("wrong_format", `${source.name} ${why}`);
  };
  const beginning =
    start.lines.find((line) => line.trim() !== "") ?? refuse("is empty: there is nothing to import");
  if (beginning.trimStart().startsWith("<"))
    refuse("is a page of HTML or XML, such as of an error or a sign-in: there is nothing to import");
  let hasRows = false;
  for await (const row of rowsOf()) {
    hasRows = true;
    yield row;
  }
  if (!hasRows) refuse("has no records: there is nothing to import");

  async function* rowsOf(): AsyncGenerator<RowOrError> {
    if (!/^\s*[[{]/.test(beginning)) return yield* tableRows(source.name, rest(), start, names);
    if (startsWithJson(beginning)) return yield* jsonLines(rest(), pages);
    const text: string[] = [];
    for await (const line of rest()) {
      if (bytes > LONGEST_LINE) refuse("is too large for one document of JSON: give it as JSON lines");
      text.push(line);
    }
    yield* recordsOf(text.join(""), "document", (n) => `record ${n}`, pages);
  }
}

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

async function* jsonLines(lines: AsyncIterable<string>, pages: Reading["pages"]): AsyncGenerator<RowOrError> {
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const place = `line ${line}`;
    if (text.trim() !== "") yield* recordsOf(text, place, (n) => `${place}, record ${n}`, pages);
  }
}

/** Members that hold the records of an API's page. */
const PAGES = ["shortUrls", "visits", "links", "data"];

/** `whole`: the place of the text; `part`: the place of a record, where there are several. */
function* recordsOf(
  text: string,
  whole: string,
  part: (n: number) => string,
  pages: Reading["pages"],
): Generator<RowOrError> {
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
    if (list) pages?.add(parsed.value, list.length);
    for (const value of list ?? [parsed.value]) {
      const place = list || values.length > 1 ? part(++count) : whole;
      if (!isObject(value)) yield unreadable(place, "it is no JSON object");
      else if (isTooDeep(value)) yield unreadable(place, `it is nested deeper than ${DEEPEST} levels`);
      else if (!isDecoded && JSON.stringify(value).includes("\\ud800\\ud800"))
        yield unreadable(place, DECODING_REFUSAL);
      else yield { place, record: value };
    }
  }
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
