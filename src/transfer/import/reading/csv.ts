// Reads records of CSV one after the other. One that can't be read ends with its first line, so that a stray quote takes no
// record after it along.

/**
 * `quotes`: cells may be in quotes, where a quote is doubled. `escapes`: a backslash stands before what would be read
 * otherwise, as MySQL writes it; `\n` and the like are control characters.
 */
export type CsvForm = { delimiter: string; quotes: boolean; escapes: boolean };

type Cells = (string | null)[];

/** `rows`: of an error, how many records are refused with it. `line`, `lastLine`: from 1. */
export type CsvRecord = { line: number; lastLine: number } & (
  | { cells: Cells }
  | { error: string; rows: number }
);

/** Characters of a record; what is longer is refused with its first line. */
const LONGEST_RECORD = 1_048_576;

const LINE_END = /\r\n|\n|\r/;
/** A field that titles and comments don't have behind a separator. */
const ROW_WITHIN_A_CELL = /^"?(https?:\/\/|\d{4}-\d\d-\d\d[ T]\d)/i;

/** Gives the records that end with each line; at the end of the file, which no line is, the rest of them. */
export function csvReader(form: CsvForm): (line: string | undefined) => Generator<CsvRecord> {
  const read = recordReader(form);
  let pending: string[] = [];
  let at = 0;
  let first = 1;
  /** Lines of `pending` from `at` on, which make no record yet. */
  let open = { lines: 0, length: 0, isWhole: true };

  function* take(line: string | undefined): Generator<CsvRecord> {
    // Also by carriage returns alone, as old spreadsheets write them.
    if (line !== undefined) pending.push(...(line.includes("\r") ? line.split(/(?<=\r)(?!\n)/) : [line]));
    for (;;) {
      while (at + open.lines < pending.length && (open.lines === 0 || isOpen())) {
        const next = pending[at + open.lines] as string;
        open = {
          lines: open.lines + 1,
          length: open.length + next.length,
          isWhole: endsRecord(next, open.lines === 0 || open.isWhole, form),
        };
      }
      if (open.lines === 0 || (isOpen() && line !== undefined)) break;
      const outcome =
        open.length > LONGEST_RECORD ? TOO_LONG : read(pending.slice(at, at + open.lines).join(""));
      const lines = typeof outcome === "string" ? 1 : open.lines;
      const place = { line: first, lastLine: first + lines - 1 };
      if (typeof outcome === "string") yield { ...place, error: outcome, rows: 1 };
      else yield { ...place, ...outcome };
      at += lines;
      first += lines;
      open = { lines: 0, length: 0, isWhole: true };
    }
    if (at > 0) pending = pending.slice(at);
    at = 0;
  }

  function isOpen(): boolean {
    return !open.isWhole && open.length <= LONGEST_RECORD;
  }

  return take;
}

const TOO_LONG = `a record of more than ${LONGEST_RECORD.toLocaleString("en")} characters`;

/** Whether no quote is open at the end of the line, nor its end escaped. `isClosed`: whether none was at its start. */
function endsRecord(line: string, isClosed: boolean, { quotes, escapes }: CsvForm): boolean {
  if (!quotes) return !escapes || !/(?<!\\)(\\\\)*\\\r?\n$/.test(line);
  const marks = line.match(escapes ? /\\[\s\S]|"/g : /"/g) ?? [];
  const count = marks.filter((mark) => mark === '"').length;
  return (count % 2 === 0) === isClosed;
}

/** Reads the text of whole lines; a text of ours says why they are no record. */
function recordReader(
  form: CsvForm,
): (text: string) => { cells: Cells } | { error: string; rows: number } | string {
  const { delimiter, quotes, escapes } = form;
  const escaped = escapes ? "\\\\[\\s\\S]" : '""';
  const inQuotes = escapes ? `[^"\\\\]*(?:(?:${escaped}|"")[^"\\\\]*)*` : `[^"]*(?:""[^"]*)*`;
  const plain = `[^${delimiter}${quotes ? '"' : ""}${escapes ? "\\\\" : ""}]`;
  const cell = new RegExp(
    `(?:${quotes ? `"(${inQuotes})"|` : "(?!)()|"}((?:${plain}${escapes ? `|${escaped}` : ""})*))(${delimiter}|$)`,
    "y",
  );
  return (record) => {
    const text = record.replace(/(\r\n|\n|\r)$/, "");
    const cells: Cells = [];
    let hasBare = false;
    cell.lastIndex = 0;
    for (let isLast = false; !isLast; ) {
      const start = cell.lastIndex;
      const match = cell.exec(text);
      if (!match) return whyNot(text.slice(start), quotes);
      const [, quoted, unquoted, end] = match;
      const raw = quoted ?? unquoted ?? "";
      const isNothing =
        raw === "\\N" ? quoted === undefined || escapes : raw === "NULL" && quoted === undefined;
      const value = quoted === undefined ? raw : raw.replaceAll('""', '"');
      hasBare ||= quoted === undefined && raw !== "";
      cells.push(isNothing ? null : escapes ? unescaped(value) : value);
      isLast = end !== delimiter;
    }
    // After a stray quote, what was text in quotes is read as bare.
    return hasBare ? apartOrRefused(text, cells, form) : { cells };
  };
}

function whyNot(rest: string, quotes: boolean): string {
  if (!quotes || !rest.startsWith('"')) return "a quote within a cell that is not in quotes";
  return /^"(?:[^"]|"")*$/.test(rest)
    ? "a quote opens a cell and is never closed"
    : "text follows the quote that closes a cell: quotes within a cell are doubled";
}

/** Two stray quotes make one cell of all records between them: who reads it can't tell which was meant. */
function apartOrRefused(text: string, cells: Cells, { delimiter, quotes }: CsvForm) {
  const isRow = (line: string) =>
    line.includes(delimiter) && line.split(delimiter).some((field) => ROW_WITHIN_A_CELL.test(field));
  const isSuspect = (cell: string | null) => cell?.includes("\n") && cell.split(LINE_END).some(isRow);
  if (!quotes || !cells.some(isSuspect)) return { cells };
  const lines = text.split(LINE_END).filter((line) => line.replaceAll(delimiter, "").trim() !== "");
  const error =
    "these lines can't be told apart: a quote opens in the first and closes in the last, with what look like records between";
  return { error, rows: lines.length };
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
/** The last one may be cut where the text ends. */
const QUOTED = /"[^"]*(?:""[^"]*)*(?:"|$)/g;

/**
 * By the first lines of the file: what parts the names of the header most often, outside of quotes (a comma for a single
 * name), and how most of the records can be read. Backslashes escape where nothing else speaks against it, and the file is
 * parted by tabs or has MySQL's `\N` outside of quotes. `isAll`: there are no more lines. `separator`: where it is known.
 */
export function csvFormOf(lines: readonly string[], isAll: boolean, separator?: string): CsvForm {
  const start = lines.join("");
  const header = (/^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(start)?.[0] ?? "").replace(QUOTED, "");
  const parts = (delimiter: string) => header.split(delimiter).length;
  const delimiter =
    separator ?? DELIMITERS.reduce((best, other) => (parts(other) > parts(best) ? other : best));
  const isTabs = delimiter === "\t";
  const plain = { delimiter, quotes: true, escapes: false };
  const escaped = { delimiter, quotes: true, escapes: true };
  const backslashes = start.match(/\\[\s\S]/g) ?? [];
  const areEscapes =
    backslashes.length > 0 && backslashes.every((pair) => /[0bnrtZN\\"\r\n,;\t]/.test(pair[1] ?? ""));
  const bare = start.replace(QUOTED, "");
  const isLikely = areEscapes && (isTabs || /(^|[,;\t\n])\\N(?=[,;\t\r\n]|$)/.test(bare));
  const forms = isLikely ? [escaped, plain] : [plain, escaped];
  if (isTabs) forms.push({ delimiter, quotes: false, escapes: true });
  const refused = forms.map((form) => {
    const take = csvReader(form);
    const records = [...lines, ...(isAll ? [undefined] : [])].flatMap((line) => [...take(line)]);
    return records.reduce((sum, record) => sum + ("error" in record ? record.rows : 0), 0);
  });
  return forms[refused.indexOf(Math.min(...refused))] ?? plain;
}
