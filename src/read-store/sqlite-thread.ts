// The thread that searches, counts and writes read.db for the HTTP thread; started by sqlite.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../runtime/serve-thread.ts";
import { yieldToRedirects } from "../thread-priority.ts";
import { openSqliteReadStore } from "./sqlite.ts";

/** Whoever searches can wait a little longer than who follows a link. */
const NICENESS = 5;

if (parentPort) {
  yieldToRedirects(NICENESS);
  const readStore = await openSqliteReadStore((workerData as { file: string }).file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
