// The thread that works on deliveries.db for the portal's pages, away from the HTTP thread; started by queue.sqlite.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { openSqliteDeliveryQueue } from "./queue.sqlite.ts";

if (parentPort) {
  const queue = await openSqliteDeliveryQueue((workerData as { file: string }).file);
  serveThread(parentPort, { queue }, () => queue.close());
}
