// The thread that searches, counts and writes read.db for the HTTP thread; started by sqlite/event-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { lowerThreadPriority } from "../../runtime/threads/thread-priority.ts";
import { openSqliteReadStore } from "./read-store.ts";

/** Whoever searches can wait a little longer than who follows a link. */
const NICENESS = 5;

if (parentPort) {
  lowerThreadPriority(NICENESS);
  const readStore = await openSqliteReadStore((workerData as { file: string }).file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
