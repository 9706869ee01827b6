// Whether everything that was answered is in the log and in the documents exactly once.
import type { Backend } from "../../src/backend.ts";
import type { LoadResult } from "../load/load.ts";
import type { Report } from "../report/report.ts";
import { clicksInLog, clicksInTotals, linksInDocuments, linksInLog } from "./count.ts";

export type Reckoned = {
  passed: boolean;
  answered: number;
  inLog: number;
  inDocuments: number;
  /** Requests that were answered otherwise or not at all. */
  failed: number;
};

/** Redirects and their clicks. `runs`: all that were ever sent; `seeded`: clicks that were there before. */
export async function reckon(
  backend: Backend,
  runs: readonly LoadResult[],
  report: Report,
  seeded = 0,
): Promise<Reckoned> {
  const answered = runs.reduce((sum, run) => sum + run.answered, seeded);
  const [inLog, inDocuments] = [await clicksInLog(backend), await clicksInTotals(backend)];
  return judge({ answered, inLog, inDocuments, failed: failedIn(runs) }, report);
}

/** `created`: links that were answered, and those that were there before. */
export async function reckonLinks(
  backend: Pick<Backend, "eventStore" | "readStore">,
  created: number,
  runs: readonly LoadResult[],
  report: Report,
): Promise<Reckoned> {
  const [inLog, inDocuments] = [await linksInLog(backend), await linksInDocuments(backend)];
  return judge({ answered: created, inLog, inDocuments, failed: failedIn(runs) }, report);
}

function failedIn(runs: readonly LoadResult[]): number {
  return runs.reduce((sum, { other, errors }) => sum + other + errors, 0);
}

function judge(found: Omit<Reckoned, "passed">, report: Report): Reckoned {
  const { answered, inLog, inDocuments, failed } = found;
  const passed = failed === 0 && answered === inLog && answered === inDocuments;
  const verdict = passed
    ? "nothing lost, nothing doubled"
    : `answered otherwise or not at all ${failed}: MISMATCH`;
  report.line(`answered ${answered}, in the log ${inLog}, in documents ${inDocuments}: ${verdict}`);
  return { passed, ...found };
}
