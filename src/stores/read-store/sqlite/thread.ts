// The thread that searches, counts and writes read.db for another one; started by read-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../runtime/threads/in-thread.ts";
import { serveThread } from "../../../runtime/threads/serve-thread.ts";
import type { ReadStoreThreadData } from "./read-store.ts";
import { SqliteReadStore } from "./synchronous-read-store.ts";

if (parentPort) {
  const { file, niceness } = workerData as ReadStoreThreadData;
  if (niceness > 0) lowerThreadPriority(niceness);
  const readStore = new SqliteReadStore(file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
