// The thread that appends to the SQLite log, so that fsync does not block the event loop of the caller; see event-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../../runtime/threads/serve-thread.ts";
import { unavailableOnError } from "../../connections/sqlite.ts";
import { openLogFile } from "./log-file.ts";
import { LogWriter } from "./write-log.ts";

if (parentPort) {
  const { file } = workerData as { file: string };
  const log = unavailableOnError(() => new LogWriter(openLogFile(file)), file);
  serveThread(parentPort, { log }, () => log.close());
}
