// Prints what a benchmark has found: numbers, and tables of text.
/** Rounded, with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** The first row is the head. Columns of numbers are aligned to the right, others to the left. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows;
  const isNumeric = head.map((_, column) => body.every((cells) => /^[\d.,]*$/.test(cells[column] ?? "")));
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const align = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return isNumeric[column] ? cell.padStart(width) : cell.padEnd(width);
  };
  for (const cells of rows) console.log(cells.map(align).join("   ").trimEnd());
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
