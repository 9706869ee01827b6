// `npm run bench all`: every run that a target needs, and then the table of targets with what was measured. With --quick:
// small runs of each benchmark that only check that everything is counted once, and that a rebuild equals live.
import { type Options, parseOptions, partsOf } from "../options.ts";
import type { Report } from "../report/report.ts";
import type { Benchmark, Outcome } from "../report/results.ts";
import { type Measured, RUNS, TARGETS } from "./targets.ts";

/** As in RUNS, small enough for a minute together. */
const QUICK_RUNS: Readonly<Record<string, string>> = {
  redirect: "redirect --rounds 1 --seconds 1 --links 1000 --half --unknown",
  durable: "redirect --rounds 1 --seconds 1 --links 1000 --durable",
  fold: "fold --seconds 1 --links 1000 --rate 200",
  double: "redirect --rounds 1 --seconds 1 --links 1000 --double",
  rebuild: "rebuild --quick --events 5000 --links 500",
  create: "create --rounds 1 --seconds 1",
  analytics: "analytics --clicks 2000 --requests 100",
};

/** Targets are of the embedded stores. */
const SERVERS = ["EVENTSTORE_URL", "MONGODB_URL", "REDIS_URL"];

/** `only`: names of runs. Passes when every run has counted everything once; a missed target is no failure. */
export async function benchAll(
  options: Options,
  report: Report,
  benchmarks: Readonly<Record<string, Benchmark>>,
): Promise<Outcome> {
  for (const name of SERVERS) delete process.env[name];
  const commands = options.quick ? QUICK_RUNS : RUNS;
  const measured: Record<string, Measured> = {};
  const failed: string[] = [];
  for (const name of partsOf(options.only, Object.keys(commands))) {
    const command = commands[name] ?? "";
    report.line(`\n== npm run bench ${command}`);
    const { name: benchmark = "", options: ownOptions } = parseOptions(command.split(" "));
    const started = performance.now();
    const outcome = await (benchmarks[benchmark] as Benchmark)(ownOptions, report).catch((error: Error) => {
      report.line(`FAILED: ${error.stack}`);
      return { passed: false, measured: undefined };
    });
    report.line(
      `${outcome.passed ? "passed" : "FAILED"} after ${Math.round((performance.now() - started) / 1000)} s`,
    );
    measured[name] = outcome.measured;
    if (!outcome.passed) failed.push(name);
  }
  const targets = options.quick ? [] : judge(measured);
  if (!options.quick) printTargets(targets, report);
  report.line(failed.length === 0 ? "\nall runs passed" : `\nFAILED: ${failed.join(", ")}`);
  return { passed: failed.length === 0, measured: { targets, runs: measured } };
}

type Judged = { what: string; command: string; target: string; found: string; met: boolean | undefined };

/** `met` is undefined for what was not measured. */
function judge(measured: Record<string, Measured>): Judged[] {
  return TARGETS.map(({ what, run, target, value, isMet, show }) => {
    const found = measured[run] && value(measured[run]);
    const isKnown = typeof found === "number" && !Number.isNaN(found);
    const answer = isKnown
      ? { found: show(found), met: isMet(found) }
      : { found: "not measured", met: undefined };
    return { what, command: RUNS[run] ?? "", target, ...answer };
  });
}

function printTargets(targets: readonly Judged[], report: Report): void {
  const verdict = { true: "met", false: "missed", undefined: "" };
  const rows = targets.map(({ what, command, target, found, met }) => [
    ...[what, `\`${command}\``, target, found],
    verdict[`${met}`],
  ]);
  report.line("");
  report.table([["what", "npm run bench", "target", "measured", ""], ...rows]);
}
