// Whether every answered redirect is in the log and in the totals exactly once.
import type { Backend } from "../../src/backend.ts";
import type { LoadResult } from "../load/load.ts";
import type { Report } from "../report/report.ts";
import { clicksInLog, clicksInTotals } from "./count.ts";

/** `runs`: all that were ever sent; `seeded`: clicks that were there before. Everything has been folded. */
export async function reckon(
  backend: Backend,
  runs: readonly LoadResult[],
  report: Report,
  seeded = 0,
): Promise<{ passed: boolean; answered: number; inLog: number; inTotals: number; failed: number }> {
  const answered = runs.reduce((sum, run) => sum + run.answered, seeded);
  const failed = runs.reduce((sum, { other, errors }) => sum + other + errors, 0);
  const inLog = await clicksInLog(backend);
  const inTotals = await clicksInTotals(backend);
  const passed = failed === 0 && answered === inLog && answered === inTotals;
  const verdict = passed
    ? "nothing lost, nothing doubled"
    : `answered otherwise or not at all ${failed}: MISMATCH`;
  report.line(`answered ${answered}, in the log ${inLog}, in totals ${inTotals}: ${verdict}`);
  return { passed, answered, inLog, inTotals, failed };
}
