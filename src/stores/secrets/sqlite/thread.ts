// The thread for secrets.db in the HTTP process, so that the event loop never waits for an fsync; started by secret-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../../runtime/threads/serve-thread.ts";
import { openSqliteSecrets } from "./secret-store.ts";

if (parentPort) {
  const secrets = await openSqliteSecrets((workerData as { file: string }).file);
  serveThread(parentPort, { secrets }, () => secrets.close());
}
