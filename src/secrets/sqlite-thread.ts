// The thread that owns secrets.db in the HTTP process, so that no request waits for its fsync; started by sqlite/event-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../runtime/threads/serve-thread.ts";
import { openSqliteSecrets } from "./sqlite.ts";

if (parentPort) {
  const secrets = await openSqliteSecrets((workerData as { file: string }).file);
  serveThread(parentPort, { secrets }, () => secrets.close());
}
