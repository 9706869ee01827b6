// Starts a thread of a bare program. What it throws ends the program, so that no figure is printed.
import { Worker } from "node:worker_threads";
import type { ServerLog } from "../setup/servers.ts";

export type ThreadData = {
  /** Of the program's databases. */
  folder: string;
  /** The log, where it is not in the folder. */
  server?: ServerLog | undefined;
};

/** `file`: named from the program's folder. */
export function startThread(file: URL, { name, ...data }: ThreadData & { name: string }): Worker {
  const thread = new Worker(file, { name, workerData: data });
  thread.on("error", (error) => {
    throw error;
  });
  return thread;
}
