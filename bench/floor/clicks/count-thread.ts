// The bare recorder's third thread: reads the log, hashes each click for a seal, and commits the documents every two seconds.
import { hash } from "node:crypto";
import { COMMIT_RULES } from "../../../src/projections/runner/commit-batches.ts";
import { folder, keepReading, reportCommitted, server } from "../thread-loops.ts";
import { openBareCounts } from "./bare-counts.ts";
import { type NewClicks, openBareLog } from "./bare-log.ts";
import { openServerLog } from "./server-log.ts";

/** Of our own projector under high load. */
const COMMIT_EVERY_MS = 2_000;
const READ_EVERY_MS = 100;
const BATCHES = 50;
/** Those of all links of a benchmark by Zipf, and of a tenth of 100,000 links. */
const KEPT_DOCUMENTS = 10_000;

const read = server ? (await openServerLog(server)).follow() : followBareLog();
const counts = openBareCounts(folder, { kept: KEPT_DOCUMENTS });
let clicks = 0;
let committedAt = performance.now();
keepReading(countNew, READ_EVERY_MS);

function countNew(): boolean {
  const { clicks: found, mayBeMore } = read();
  for (const click of found) {
    hash("sha256", JSON.stringify(click), "hex");
    counts.count(click);
  }
  clicks += found.length;
  if (
    clicks >= COMMIT_RULES.maxEvents ||
    (clicks > 0 && performance.now() - committedAt >= COMMIT_EVERY_MS)
  ) {
    counts.commit();
    reportCommitted(clicks);
    [clicks, committedAt] = [0, performance.now()];
  }
  return mayBeMore;
}

function followBareLog(): () => NewClicks {
  const log = openBareLog(folder);
  let position = 0;
  return () => {
    const batches = log.read(position, BATCHES);
    position = batches.at(-1)?.position ?? position;
    return { clicks: batches.flatMap((batch) => batch.clicks), mayBeMore: batches.length === BATCHES };
  };
}
