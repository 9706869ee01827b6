// Starts a thread of a bare program. What it throws ends the program, so that no figure is printed.
import { Worker } from "node:worker_threads";

/** `file`: named from the program's folder; `folder`: of its databases. */
export function startThread(file: URL, { name, folder }: { name: string; folder: string }): Worker {
  const thread = new Worker(file, { name, workerData: { folder } });
  thread.on("error", (error) => {
    throw error;
  });
  return thread;
}
