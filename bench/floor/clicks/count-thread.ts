// The bare recorder's third thread: reads the log, hashes each click for a seal, and commits both documents every two seconds.
import { hash } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../src/runtime/threads/thread-priority.ts";
import { openBareCounts } from "./bare-counts.ts";
import { openBareLog } from "./bare-log.ts";

/** Of our own projector: its priority beside redirects, the interval under high load, most clicks of a commit. */
const NICENESS = 10;
const COMMIT_EVERY_MS = 2_000;
const MAX_CLICKS = 40_000;
const READ_EVERY_MS = 100;
const BATCHES = 50;
/** Of each kind; the memory of some 40 MB. */
const KEPT_DOCUMENTS = 10_000;

const port = parentPort as MessagePort;
const { folder } = workerData as { folder: string };
lowerThreadPriority(NICENESS);
const log = openBareLog(folder);
const counts = openBareCounts(folder, { kept: KEPT_DOCUMENTS });
let position = 0;
let clicks = 0;
let committedAt = performance.now();
countNew();

function countNew(): void {
  const batches = log.read(position, BATCHES);
  for (const batch of batches) {
    for (const click of batch.clicks) {
      hash("sha256", JSON.stringify(click), "hex");
      counts.count(click);
    }
    position = batch.position;
    clicks += batch.clicks.length;
  }
  if (clicks >= MAX_CLICKS || (clicks > 0 && performance.now() - committedAt >= COMMIT_EVERY_MS)) {
    counts.commit();
    port.postMessage(clicks);
    [clicks, committedAt] = [0, performance.now()];
  }
  if (batches.length === BATCHES) setImmediate(countNew);
  else setTimeout(countNew, READ_EVERY_MS);
}
