// Rounds of a bare program beside a bare Fastify server, after a warm-up round, as of `redirect` and `create`.
import { type Comparison, compare, comparisonTable, roundLine } from "../compare/comparison.ts";
import { alternate, type Loading, type Side } from "../compare/side.ts";
import type { Load, LoadResult } from "../load/load.ts";
import type { Report } from "../report/report.ts";

type Sides = { bare: Side; service: Side; names: { bare: string; service: string } };

/** `loads`: all runs of the program, the warm-up too. */
export async function measureRounds(
  load: Load,
  { names, ...sides }: Sides,
  loading: Loading & { rounds: number },
  report: Report,
): Promise<{ compared: Comparison; loads: LoadResult[] }> {
  const warmUp = await alternate(load, sides, { ...loading, rounds: 1 });
  const rounds = await alternate(load, sides, loading, (round, n) => report.line(roundLine(n, round)));
  const compared = compare(rounds);
  report.table(comparisonTable(compared, names));
  return { compared, loads: [...warmUp, ...rounds].map(({ service }) => service) };
}
