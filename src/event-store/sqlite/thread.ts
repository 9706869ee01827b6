// The thread that owns the SQLite log, so that fsync does not block the event loop of the caller; see event-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { SqliteLog } from "./log.ts";
import type { AppendOutcome, AppendRequest, ReadAllRequest, ReadRequest } from "./log-requests.ts";

type Waiting = {
  request: AppendRequest;
  resolve(outcome: AppendOutcome): void;
  reject(error: unknown): void;
};

/** Group commit: all appends that arrived during the last commit share the next one. */
function groupedAppends(log: SqliteLog): (request: AppendRequest) => Promise<AppendOutcome> {
  let waiting: Waiting[] = [];
  const appendWaiting = () => {
    const group = waiting;
    waiting = [];
    try {
      const outcomes = log.append(group.map(({ request }) => request));
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index] as AppendOutcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ request, resolve, reject }) === 1) setImmediate(appendWaiting);
    });
}

if (parentPort) {
  const log = new SqliteLog((workerData as { file: string }).file);
  const served = {
    append: groupedAppends(log),
    read: (request: ReadRequest) => log.read(request),
    readAll: (request: ReadAllRequest) => log.readAll(request),
    head: () => log.head(),
  };
  serveThread(parentPort, { log: served }, async () => log.close());
}
