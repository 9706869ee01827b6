// `npm run bench <name> -- [options]`: parses the options, runs the benchmark, and prints or keeps what it found.
import { BENCHMARKS, USAGE } from "./benchmarks.ts";
import { parseOptions } from "./options.ts";
import { describeMachine, machineLine } from "./report/machine.ts";
import { createReport } from "./report/report.ts";
import { saveResult } from "./report/results.ts";

// Otherwise what it has started would go on without it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

const { name = "", options } = parseOptions(process.argv.slice(2));
const benchmark = BENCHMARKS[name];

if (benchmark) {
  const report = createReport(options);
  const machine = describeMachine();
  const at = new Date().toISOString();
  report.line(machineLine(machine));
  const outcome = await benchmark(options, report);
  const result = { benchmark: name, at, machine, options, ...outcome };
  if (options.json) console.log(JSON.stringify(result, null, 2));
  if (options.save) report.line(`kept as ${saveResult(result)}`);
  process.exitCode = outcome.passed ? 0 : 1;
} else {
  console.error(USAGE);
  process.exitCode = 2;
}
