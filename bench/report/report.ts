// Where a benchmark prints: text and tables for a terminal or for a document, or beside one JSON document.

export type Report = {
  line(text: string): void;
  /** The first row is the head. Columns of numbers are aligned to the right, others to the left. */
  table(rows: readonly (readonly string[])[]): void;
};

/** `json`: prints to standard error, as the document goes to standard output. */
export function createReport({ json, markdown }: { json: boolean; markdown: boolean }): Report {
  const line = json ? console.error : console.log;
  const lines = markdown ? markdownLines : textLines;
  return {
    line,
    table(rows) {
      for (const text of lines(rows)) line(text);
    },
  };
}

/** Rounded, with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function markdownLines(rows: readonly (readonly string[])[]): string[] {
  const [head = [], ...body] = rows;
  const rule = numericColumns(rows).map((numeric) => (numeric ? "---:" : "---"));
  return [head, rule, ...body].map((cells) => `| ${cells.join(" | ")} |`);
}

function textLines(rows: readonly (readonly string[])[]): string[] {
  const isNumeric = numericColumns(rows);
  const widths = isNumeric.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const align = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return isNumeric[column] ? cell.padStart(width) : cell.padEnd(width);
  };
  return rows.map((cells) => cells.map(align).join("   ").trimEnd());
}

function numericColumns([head = [], ...body]: readonly (readonly string[])[]): boolean[] {
  return head.map((_, column) => body.every((cells) => /^[\d.,]*$/.test(cells[column] ?? "")));
}
