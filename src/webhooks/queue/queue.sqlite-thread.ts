// The thread in which portal pages read deliveries.db, so that the HTTP thread is not blocked; see queue.sqlite.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { openSqliteDeliveryQueue } from "./queue.sqlite.ts";

if (parentPort) {
  const queue = await openSqliteDeliveryQueue((workerData as { file: string }).file);
  serveThread(parentPort, { queue }, () => queue.close());
}
