// `npm run bench redirect`: redirects with either durability and of unknown slugs, beside a Fastify that only redirects.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startChild } from "./load/child.ts";
import { startLoad } from "./load/load.ts";
import { LINKS, type Traffic } from "./load/requests.ts";
import { allClicksCounted, secondsToCatchUp } from "./measure/counted.ts";
import { peakMb } from "./measure/process-usage.ts";
import { measureRounds, ROUNDS_HEAD, roundsRow } from "./measure/rounds.ts";
import type { Options } from "./options.ts";
import { printTable, whole } from "./report.ts";
import { withService } from "./setup/bench-service.ts";

const PAGE_BYTES = 4_096;

/** Passes when every answered redirect is in the log and in the totals exactly once. */
export async function benchRedirect({ quick, ...options }: Options): Promise<boolean> {
  const { links = quick ? 1_000 : LINKS, seconds = quick ? 1 : 6 } = options;
  const visits: Traffic = { kind: "visits", links };
  const loading = { traffic: visits, expect: 301, seconds, rounds: quick ? 1 : 3 };
  const bare = await bareFastify(loading);
  const batched = await redirects("batched");
  const durable = await redirects("durable");
  console.log("");
  printTable([ROUNDS_HEAD, bare, ...batched.rows, ...durable.rows]);
  return batched.passed && durable.passed;

  async function redirects(durability: "batched" | "durable") {
    const environment = { CLICK_DURABILITY: durability };
    return await withService({ links, environment }, async (running) => {
      const { backend, dataDir, pid, load, service, readyAfterS } = running;
      const server = { url: service.url, pid, settle: () => secondsToCatchUp(backend) };
      const bytesBefore = logBytes(dataDir);
      const { runs, median } = await measureRounds(load, server, loading);
      const clicks = runs.reduce((sum, { answered }) => sum + answered, 0);
      const rows = [roundsRow(`redirects, ${durability}`, median)];
      const isCounted = await allClicksCounted(backend, runs, service.url);
      console.log(
        `${durability}: ready after ${readyAfterS.toFixed(1)} s, at most ${whole(peakMb(pid))} MB, ` +
          `${whole((logBytes(dataDir) - bytesBefore) / clicks)} bytes of log a click`,
      );
      if (durability === "durable") return { passed: isCounted, rows };
      const bySlug = { ...loading, traffic: { kind: "unknown" as const }, expect: 404 };
      const unknown = await measureRounds(load, { url: service.url, pid }, bySlug);
      rows.push(roundsRow("unknown slugs", unknown.median));
      const isAnswered = unknown.runs.every(({ other, errors }) => other + errors === 0);
      return { passed: isCounted && isAnswered, rows };
    });
  }
}

async function bareFastify(loading: Parameters<typeof measureRounds>[2]): Promise<string[]> {
  const child = startChild("bare-fastify.ts");
  const load = startLoad();
  try {
    const url = await child.answer<string>();
    const { median } = await measureRounds(load, { url, pid: child.pid }, loading);
    return roundsRow("a bare Fastify", median);
  } finally {
    await Promise.all([load.stop(), child.stop()]);
  }
}

/** With pages that are still in the write-ahead log. */
function logBytes(dataDir: string): number {
  using db = new DatabaseSync(join(dataDir, "events.db"), { readOnly: true });
  return Number(db.prepare("PRAGMA page_count").get()?.page_count) * PAGE_BYTES;
}
