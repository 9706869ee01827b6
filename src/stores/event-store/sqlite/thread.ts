// The thread that owns the SQLite log, so that fsync does not block the event loop of the caller; see event-store.ts.
// What arrives together shares a transaction, as beginning and ending one costs more than a short read.
import { parentPort, workerData } from "node:worker_threads";
import { serveThread } from "../../../runtime/threads/serve-thread.ts";
import { unavailableOnError } from "../../connections/sqlite.ts";
import type { RecordedEvent } from "../port.ts";
import {
  type AppendOutcome,
  type AppendRequest,
  type ReadAllRequest,
  type ReadRequest,
  type ReadStoredRequest,
  SqliteLog,
} from "./log.ts";

type Waiting<Request, Result> = {
  request: Request;
  resolve(result: Result): void;
  reject(error: unknown): void;
};

/** Runs all calls that arrived by the time `later` calls back as one group. */
function grouped<Request, Result>(
  later: (run: () => void) => void,
  runAll: (requests: Request[]) => readonly Result[],
): (request: Request) => Promise<Result> {
  let waiting: Waiting<Request, Result>[] = [];
  const runWaiting = () => {
    const group = waiting;
    waiting = [];
    try {
      const results = runAll(group.map(({ request }) => request));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ request, resolve, reject }) === 1) later(runWaiting);
    });
}

if (parentPort) {
  const { file } = workerData as { file: string };
  const log = unavailableOnError(() => new SqliteLog(file), file);
  const served = {
    // Group commit: all appends that arrived during the last commit share the next one.
    append: grouped<AppendRequest, AppendOutcome>(setImmediate, (requests) => log.append(requests)),
    // Before the answers to their message are posted.
    read: grouped<ReadRequest, RecordedEvent[]>(process.nextTick, (requests) =>
      log.inSnapshot(() => requests.map((request) => log.read(request))),
    ),
    readAll: (request: ReadAllRequest) => log.readAll(request),
    readStored: (request: ReadStoredRequest) => log.readStored(request),
    structureProblems: () => log.structureProblems(),
    head: () => log.head(),
  };
  serveThread(parentPort, { log: served }, async () => log.close());
}
