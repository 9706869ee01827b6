// The thread that searches, counts and writes read.db for the HTTP thread; started by sqlite.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../runtime/serve-thread.ts";
import { openSqliteReadStore } from "./sqlite.ts";

if (parentPort) {
  const readStore = await openSqliteReadStore((workerData as { file: string }).file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
