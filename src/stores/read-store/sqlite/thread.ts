// The thread that searches and writes read.db for another one; started by read-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../runtime/threads/in-thread.ts";
import { serveThread } from "../../../runtime/threads/serve-thread.ts";
import { SqliteReadStore } from "./synchronous-read-store.ts";

/** Below the priority of redirects: searches may take longer. */
const NICENESS = 5;

if (parentPort) {
  lowerThreadPriority(NICENESS);
  const readStore = new SqliteReadStore((workerData as { file: string }).file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
