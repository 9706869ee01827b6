// What a fault test has counted, in the test run's output: a claim such as "0 lost" shows out of how many.

export function printCounts(what: string, counts: Record<string, number>): void {
  const text = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  process.stdout.write(`${what}: ${text.join(", ")}\n`);
}
