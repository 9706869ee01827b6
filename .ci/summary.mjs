// Turns vitest's JSON report into CI's last line; a file that could not run, or a failed step, is a failure too.
import { existsSync, readFileSync } from "node:fs";

const [report, failedSteps] = process.argv.slice(2);
const results = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined;

const passed = results?.numPassedTests ?? 0;
const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
const brokenFiles = (results?.testResults ?? []).filter(
  (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
);
for (const file of brokenFiles) console.log(`could not run: ${file.name}\n${file.message ?? ""}`);
let failed = (results?.numFailedTests ?? 0) + brokenFiles.length;
if (failed === 0 && (failedSteps !== "0" || passed === 0)) failed = 1;

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed === 0 ? 0 : 1;
