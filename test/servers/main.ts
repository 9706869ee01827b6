// `npm run test:servers`: every suite that needs a server, on real ones, and one line that says how many passed.
//
// EVENTSTORE_URL, MONGODB_URL and REDIS_URL name the servers; what is unset is started in a container where there is
// Docker, else the suite uses the test server that is installed here, else it says so and is skipped.
// NODE_EXTRA_CA_CERTS names an authority of their own that no connection string can name, as for rediss://.
// With EVENTSTORE_URL every suite of event stores runs on that server, but for faults that only the double can provoke.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../src/runtime/errors.ts";
import { startDockerServers } from "./docker-servers.ts";

/** Parts of the paths of test files. */
const SUITES = [
  "test/servers/",
  "test/cluster/",
  "test/faults/",
  ".esdb.test.",
  ".mongodb.test.",
  ".redis.test.",
];

/** A server elsewhere may be slow, and other tests may be using it. */
const TIMEOUTS = ["--testTimeout=60000", "--hookTimeout=120000"];

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
};

const say = (line: string) => void process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), "linkledger-servers-"));
try {
  const servers = await startDockerServers(process.env, say);
  try {
    process.exitCode = await runAll({ ...process.env, TEST_LONG: "1", ...servers.environment });
  } finally {
    await servers.stop();
  }
} catch (error) {
  say(`a server did not start: ${messageOf(error)}`);
  say("0 passed, 1 failed, 0 skipped");
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Environment = Record<string, string | undefined>;

async function runAll(environment: Environment): Promise<number> {
  const { passed, failed, skipped } = await run(environment);
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 ? 1 : 0;
}

type Counts = { passed: number; failed: number; skipped: number };

async function run(environment: Environment): Promise<Counts> {
  const report = join(folder, "report.json");
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [vitest, "run", ...SUITES, ...TIMEOUTS, ...reporters], {
    stdio: "inherit",
    env: environment,
  });
  const [status] = (await once(child, "exit")) as [number | null];
  return summary(report, status ?? 1);
}

/** A file that could not run counts as failed, though none of its tests did. */
function summary(file: string, status: number): Counts {
  let report: Report | undefined;
  try {
    report = JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    // Without a report nothing ran, which is the failure to tell.
  }
  const broken = report?.testResults.filter(
    (suite) => suite.status === "failed" && suite.assertionResults.every((test) => test.status !== "failed"),
  ).length;
  let failed = (report?.numFailedTests ?? 1) + (broken ?? 0);
  // Such as an error that no test caught.
  if (failed === 0 && status !== 0) failed = 1;
  return { passed: report?.numPassedTests ?? 0, failed, skipped: report?.numPendingTests ?? 0 };
}
