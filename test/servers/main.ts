// `npm run test:servers`: every suite that needs a server, on real ones, and one line that says how many passed.
//
// EVENTSTORE_URL, MONGODB_URL and REDIS_URL name the servers; what is unset is started in a container where there is
// Docker, else the suite uses the test server that is installed here, else it says so and is skipped.
// NODE_EXTRA_CA_CERTS names an authority of their own that no connection string can name, as for rediss://.
// With TEST_BOTH_CLIENTS=1 what uses the event store runs twice, with each of its clients (esdb:// and kurrentdb://).
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
  ".kurrentdb.test.",
  ".mongodb.test.",
  ".redis.test.",
];

const CLIENTS = ["esdb", "kurrentdb"];
/** Suites that no event store client takes part in. */
const WITHOUT_EVENT_STORE = [".mongodb.test.", ".redis.test."];

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
    process.exitCode = await runAll({ ...process.env, ...servers.environment });
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
  if (environment.TEST_BOTH_CLIENTS !== "1") return total([await run(SUITES, environment)]);
  const counts: Counts[] = [];
  for (const client of CLIENTS) {
    const isFirst = counts.length === 0;
    const suites = SUITES.filter((suite) => isFirst || !WITHOUT_EVENT_STORE.includes(suite));
    say(`the event store by the client of ${client}://`);
    counts.push(await run(suites, withClient(environment, client)));
  }
  return total(counts);
}

/** The double's URL has the scheme of TEST_EVENTSTORE_SCHEME. */
function withClient(environment: Environment, client: string): Environment {
  const { EVENTSTORE_URL } = environment;
  const changed = EVENTSTORE_URL?.replace(/^(esdb|kurrentdb)/, client);
  return { ...environment, ...(changed && { EVENTSTORE_URL: changed }), TEST_EVENTSTORE_SCHEME: client };
}

type Counts = { passed: number; failed: number; skipped: number };

function total(counts: readonly Counts[]): number {
  const sum = (of: (count: Counts) => number) => counts.reduce((all, count) => all + of(count), 0);
  const failed = sum((count) => count.failed);
  say(`${sum(({ passed }) => passed)} passed, ${failed} failed, ${sum(({ skipped }) => skipped)} skipped`);
  return failed > 0 ? 1 : 0;
}

async function run(suites: readonly string[], environment: Environment): Promise<Counts> {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [vitest, "run", ...suites, ...TIMEOUTS, ...reporters], {
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
