// The thread that searches, counts and writes read.db for the HTTP thread; started by read-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { lowerThreadPriority } from "../../runtime/threads/thread-priority.ts";
import { openSqliteReadStore } from "./read-store.ts";

/** Below the priority of redirects: searches may take longer. */
const NICENESS = 5;

if (parentPort) {
  lowerThreadPriority(NICENESS);
  const readStore = await openSqliteReadStore((workerData as { file: string }).file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
