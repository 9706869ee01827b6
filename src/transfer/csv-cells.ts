// How tables are written: by RFC 4180, so that import/reading/csv.ts reads every text back; those for spreadsheets are guarded.

/** Ends the first cell of a table that is guarded, by which an import knows it. */
const GUARD_NOTE = " (for spreadsheets: ' stands before what they would run)";
const BYTE_ORDER_MARK = "\ufeff";
/** What a spreadsheet would run, behind any number of guards. */
const FORMULA = /^'*(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/;

/**
 * `head`: start of the file. `line`: a record, with its line end. `forSpreadsheets`: with a byte order mark, and `'` before
 * cells that a spreadsheet would run as a formula, as values come from strangers' requests.
 */
export function csvLines(columns: readonly string[], forSpreadsheets = false) {
  const line = (cells: readonly string[]) => {
    const written = forSpreadsheets ? cells.map(guarded) : cells;
    // All of them, so that whoever reads it suspects no stray quote (import/reading/csv.ts).
    const hasBreak = written.some((cell) => /[\r\n]/.test(cell));
    return `${written.map((cell) => (hasBreak || needsQuotes(cell) ? quoted(cell) : cell)).join(",")}\r\n`;
  };
  const [first = "", ...others] = columns;
  const head = forSpreadsheets ? `${BYTE_ORDER_MARK}${line([first + GUARD_NOTE, ...others])}` : line(columns);
  return { head, line };
}

/** Also what an import reads otherwise: MySQL's words for nothing, and its escapes. */
function needsQuotes(cell: string): boolean {
  return /[",\\]/.test(cell) || cell === "NULL";
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

function guarded(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** The cell before it was guarded. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** The first column's name, and whether the table is guarded. */
export function readGuardNote(first: string): { name: string; isGuarded: boolean } {
  const isGuarded = first.endsWith(GUARD_NOTE);
  return { name: isGuarded ? first.slice(0, -GUARD_NOTE.length) : first, isGuarded };
}
