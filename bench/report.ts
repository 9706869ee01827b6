// What every benchmark prints alike: the machine, numbers, and tables for the terminal or for docs/performance.md.
import { cpus } from "node:os";

export function machineLine(): string {
  const [cpu] = cpus();
  return `Node ${process.version}, ${cpus().length} x ${cpu?.model ?? "unknown processor"}`;
}

/** Rounded, with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** The first row is the head. Columns of numbers are aligned to the right, others to the left. */
export function printTable(rows: readonly (readonly string[])[], { markdown }: { markdown: boolean }): void {
  const [head = [], ...body] = rows;
  const isNumeric = head.map((_, column) => body.every((cells) => /^[\d.,]+$/.test(cells[column] ?? "")));
  if (markdown) {
    const rule = isNumeric.map((numeric) => (numeric ? "---:" : "---"));
    for (const cells of [head, rule, ...body]) console.log(`| ${cells.join(" | ")} |`);
    return;
  }
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const align = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return isNumeric[column] ? cell.padStart(width) : cell.padEnd(width);
  };
  for (const cells of rows) console.log(cells.map(align).join("   ").trimEnd());
}
