// `npm run test:servers`: the suites that need real servers, and one line that says how many passed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Parts of the paths of test files; a suite without its server says so and is skipped. */
const SUITES = ["test/servers/", ".mongodb.test.", ".redis.test."];

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
};

const folder = mkdtempSync(join(tmpdir(), "linkledger-servers-"));
const file = join(folder, "report.json");
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${file}`];
const run = spawnSync(process.execPath, [vitest, "run", ...SUITES, ...reporters], { stdio: "inherit" });
process.exitCode = summary(run.status ?? 1);
rmSync(folder, { recursive: true, force: true });

/** A file that could not run counts as failed, though none of its tests did. */
function summary(status: number): number {
  let report: Report | undefined;
  try {
    report = JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    // Without a report nothing ran, which is the failure to tell.
  }
  const broken = report?.testResults.filter(
    (suite) => suite.status === "failed" && suite.assertionResults.every((test) => test.status !== "failed"),
  ).length;
  const failed = (report?.numFailedTests ?? 1) + (broken ?? 0);
  const line = `${report?.numPassedTests ?? 0} passed, ${failed} failed, ${report?.numPendingTests ?? 0} skipped`;
  process.stdout.write(`${line}\n`);
  return failed > 0 ? 1 : status;
}
