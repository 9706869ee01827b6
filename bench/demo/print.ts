// Prints analytics as bars of plain text, with bold headings on a terminal.
const BAR_WIDTH = 30;
const TOP = 6;

export type Counts = Record<string, number>;

export function heading(text: string): string {
  return process.stdout.isTTY ? `\n\x1b[1m${text}\x1b[0m` : `\n${text}`;
}

/** The most frequent values, longest bar first; the last line is the sum of the others. */
export function bars(title: string, counts: Counts): string {
  const sorted = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
  const most = sorted[0]?.[1] ?? 1;
  const lines = sorted.slice(0, TOP).map(([name, count]) => line(name, count, most));
  const others = sorted.slice(TOP).reduce((sum, [, count]) => sum + count, 0);
  if (others > 0) lines.push(`  ${`${sorted.length - TOP} more`.padEnd(24)}${String(others).padStart(5)}`);
  return [heading(title), ...(lines.length > 0 ? lines : ["  none"])].join("\n");
}

/** The 24 hours as one row of blocks, oldest first. */
export function hours(hourly: Counts): string {
  const blocks = " ▁▂▃▄▅▆▇█";
  const counts = Object.entries(hourly).sort(([a], [b]) => a.localeCompare(b));
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const row = counts.map(([, count]) => blocks[Math.ceil((count / most) * 8)]).join("");
  const first = counts[0]?.[0].slice(11, 16);
  const last = counts.at(-1)?.[0].slice(11, 16);
  return `${heading("Last 24 hours (UTC)")}\n  ${first} |${row}| ${last}`;
}

function line(name: string, count: number, most: number): string {
  const bar = "█".repeat(Math.max(1, Math.round((count / most) * BAR_WIDTH)));
  const shown = name.length > 22 ? `${name.slice(0, 21)}…` : name;
  return `  ${shown.padEnd(24)}${String(count).padStart(5)}  ${bar}`;
}
