// Reads records of CSV one after the other. One that can't be read ends with its line, so that a stray quote takes no
// record after it along.

/**
 * `quotes`: cells may be in quotes, where a quote is doubled. `escapes`: a backslash stands before what would be read
 * otherwise, as MySQL writes it; `\n` and the like are control characters.
 */
export type CsvForm = { delimiter: string; quotes: boolean; escapes: boolean };

/** `rows`: of an error, how many records are refused with it. `line`, `lastLine`: from 1. */
export type CsvRecord = { line: number; lastLine: number; text: string } & (
  | { cells: (string | null)[] }
  | { error: string; rows: number }
);

/** Characters of a record; what is longer is refused with its first line. */
export const LONGEST_RECORD = 1_048_576;

const LINE_END = /\r\n|\n|\r/g;
/** A field that titles and comments don't have behind a separator. */
const ROW_WITHIN_A_CELL = /^"?(https?:\/\/|\d{4}-\d\d-\d\d[ T]\d)/i;

type Outcome = { end: number } & ({ cells: (string | null)[] } | { error: string; rows: number });

export async function* csvRecords(chunks: AsyncIterable<string>, form: CsvForm): AsyncGenerator<CsvRecord> {
  let text = "";
  let at = 0;
  let line = 1;
  let skipsLine = false;
  const reader = chunks[Symbol.asyncIterator]();
  for (let isWhole = false; ; ) {
    const outcome: Outcome | undefined =
      at < text.length ? outcomeAt(text, at, form, isWhole, skipsLine) : undefined;
    if (outcome) {
      const part = text.slice(at, outcome.end);
      const lines = part.match(LINE_END)?.length ?? 0;
      const lastLine = line + Math.max(0, lines - 1);
      if (!skipsLine && part.length > 0) yield { line, lastLine, text: part, ...outcome };
      line += lines;
      at = outcome.end;
      // The rest of a line that is too long comes with later chunks.
      skipsLine = lines === 0 && !isWhole;
      continue;
    }
    if (isWhole) return;
    const { value = "", done = false } = await reader.next();
    isWhole = done;
    text = text.slice(at) + value;
    at = 0;
  }
}

/** Undefined where more of the text is needed. */
function outcomeAt(
  text: string,
  start: number,
  form: CsvForm,
  isWhole: boolean,
  skipsLine: boolean,
): Outcome | undefined {
  if (skipsLine) return { end: endOfLine(text, start, isWhole) ?? text.length, cells: [] };
  const outcome = readRecord(text, start, form, isWhole);
  const isTooLong = (outcome?.end ?? text.length) - start > LONGEST_RECORD;
  if (!isTooLong && outcome && "cells" in outcome)
    return apartOrRefused(text.slice(start, outcome.end), outcome, form);
  if (!isTooLong && !outcome) return undefined;
  const end = endOfLine(text, start, isWhole);
  const error =
    isTooLong || !outcome || !("error" in outcome)
      ? `a record of more than ${LONGEST_RECORD.toLocaleString("en")} characters`
      : outcome.error;
  if (end === undefined && !isTooLong) return undefined;
  return { end: end ?? text.length, error, rows: 1 };
}

/** After the line end; undefined where it may come later. */
function endOfLine(text: string, start: number, isWhole: boolean): number | undefined {
  LINE_END.lastIndex = start;
  const found = LINE_END.exec(text);
  LINE_END.lastIndex = 0;
  if (!found) return isWhole ? text.length : undefined;
  const end = found.index + found[0].length;
  return end === text.length && found[0] === "\r" && !isWhole ? undefined : end;
}

/** Two stray quotes make one cell of all records between them: who reads it can't tell which was meant. */
function apartOrRefused(part: string, outcome: Outcome, { delimiter, quotes }: CsvForm): Outcome {
  if (!quotes) return outcome;
  const isRow = (line: string) =>
    line.includes(delimiter) && line.split(delimiter).some((field) => ROW_WITHIN_A_CELL.test(field));
  const cells = "cells" in outcome ? outcome.cells : [];
  if (!cells.some((cell) => cell?.includes("\n") && cell.split(LINE_END).some(isRow))) return outcome;
  const lines = part.split(LINE_END).filter((line) => line.replaceAll(delimiter, "").trim() !== "");
  const error =
    "these lines can't be told apart: a quote opens in the first and closes in the last, with what look like records between";
  return { end: outcome.end, error, rows: lines.length };
}

/** Undefined where more of the text is needed; the end of an error is not that of its record. */
function readRecord(text: string, start: number, form: CsvForm, isWhole: boolean): Outcome | undefined {
  const { delimiter, quotes, escapes } = form;
  const cells: (string | null)[] = [];
  const fail = (error: string): Outcome => ({ end: start, error, rows: 1 });
  for (let at = start; ; ) {
    const isQuoted = quotes && text[at] === '"';
    const cell = isQuoted ? quotedCell(text, at + 1, escapes) : plainCell(text, at, form);
    if (cell.error !== undefined) return fail(cell.error);
    if (cell.end >= text.length && !isWhole) return undefined;
    if (isQuoted && !cell.isClosed) return fail("a quote opens a cell and is never closed");
    const isNothing = cell.raw === "\\N" || (cell.raw === "NULL" && !isQuoted);
    cells.push(isNothing ? null : escapes ? unescaped(cell.value) : cell.value);
    const next = text[cell.end];
    if (next === delimiter) {
      at = cell.end + 1;
      continue;
    }
    if (next === undefined) return { end: cell.end, cells };
    if (next === "\r" && text[cell.end + 1] === undefined && !isWhole) return undefined;
    if (next === "\n") return { end: cell.end + 1, cells };
    if (next === "\r") return { end: cell.end + (text[cell.end + 1] === "\n" ? 2 : 1), cells };
    return fail("text follows the quote that closes a cell: quotes within a cell are doubled");
  }
}

type Cell = { value: string; raw: string; end: number; isClosed?: boolean; error?: string };

function quotedCell(text: string, start: number, escapes: boolean): Cell {
  const special = escapes ? /["\\]/g : /"/g;
  special.lastIndex = start;
  for (let found = special.exec(text); found; found = special.exec(text)) {
    if (found[0] === "\\") special.lastIndex += 1;
    else if (text[found.index + 1] === '"') special.lastIndex += 1;
    else {
      const raw = text.slice(start, found.index);
      return { value: raw.replaceAll('""', '"'), raw, end: found.index + 1, isClosed: true };
    }
    if (special.lastIndex - start > LONGEST_RECORD) break;
  }
  return { value: "", raw: "", end: text.length };
}

function plainCell(text: string, start: number, { delimiter, quotes, escapes }: CsvForm): Cell {
  let end = start;
  for (; end < text.length; end++) {
    const character = text[end];
    if (character === delimiter || character === "\n" || character === "\r") break;
    if (escapes && character === "\\") end += 1;
    else if (quotes && character === '"')
      return { value: "", raw: "", end, error: "a quote within a cell that is not in quotes" };
  }
  const raw = text.slice(start, end);
  return { value: raw, raw, end: Math.min(end, text.length) };
}

const CONTROLS: Readonly<Record<string, string>> = {
  "0": "\0",
  b: "\b",
  n: "\n",
  r: "\r",
  t: "\t",
  Z: "\x1a",
};

function unescaped(value: string): string {
  return value.replace(/\\([\s\S])/g, (_, character: string) => CONTROLS[character] ?? character);
}

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * By the start of the file: what parts the names of the header most often, outside of quotes (a comma for a single name),
 * and how most of the records can be read. Backslashes escape where nothing else speaks against it, and the file is parted by
 * tabs or has MySQL's `\N`.
 */
export function csvFormOf(start: string, isWhole: boolean): CsvForm {
  const header = (/^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(start)?.[0] ?? "").replace(/"(?:[^"]|"")*"/g, "");
  const parts = (delimiter: string) => header.split(delimiter).length;
  const delimiter = DELIMITERS.reduce((best, other) => (parts(other) > parts(best) ? other : best));
  const isTabs = delimiter === "\t";
  const forms: CsvForm[] = [
    { delimiter, quotes: true, escapes: false },
    { delimiter, quotes: true, escapes: true },
    ...(isTabs ? [{ delimiter, quotes: false, escapes: true }] : []),
  ];
  const backslashes = start.match(/\\[\s\S]/g) ?? [];
  const areEscapes =
    backslashes.length > 0 && backslashes.every((pair) => /[0bnrtZN\\"\r\n,;\t]/.test(pair[1] ?? ""));
  if ((isTabs || /(^|[,;\t\n])\\N(?=[,;\t\r\n]|$)/.test(start)) && areEscapes)
    forms.splice(0, 2, forms[1] as CsvForm, forms[0] as CsvForm);
  const refused = forms.map((form) => refusedIn(start, form, isWhole));
  return forms[refused.indexOf(Math.min(...refused))] as CsvForm;
}

function refusedIn(text: string, form: CsvForm, isWhole: boolean): number {
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const outcome = outcomeAt(text, at, form, isWhole, false);
    if (!outcome) break;
    if ("error" in outcome) count += outcome.rows;
    at = outcome.end;
  }
  return count;
}
