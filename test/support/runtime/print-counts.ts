// Prints the counts of a fault test, so that the output shows of how many clicks none was lost.
export function printCounts(what: string, counts: Record<string, number>): void {
  const text = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  process.stdout.write(`${what}: ${text.join(", ")}\n`);
}
