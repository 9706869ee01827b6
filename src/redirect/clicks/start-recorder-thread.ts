// The recorder's thread as the HTTP thread sees it.

import { Worker } from "node:worker_threads";
import type { Config } from "../../config.ts";
import type { RecorderReport } from "./recorder-report.ts";
import type { RecorderThreadData, ToRecorder } from "./recorder-thread.ts";

/** What the recorder asks of a worker thread. */
export type RecorderThread = Pick<Worker, "terminate"> & {
  postMessage(message: ToRecorder): void;
  on(event: "message", listener: (report: RecorderReport) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
};

/** `revisions`: as in ClickWriterDeps. */
export type StartRecorderThread = (revisions: ReadonlyMap<string, number>) => RecorderThread;

/** Starts recorder-thread.ts. `writer`: as in ClickWriterDeps, new for every process. */
export function recorderThreadStarter(config: Config, writer: string): StartRecorderThread {
  return (revisions) => {
    const workerData: RecorderThreadData = { config, writer, revisions };
    return new Worker(new URL("./recorder-thread.ts", import.meta.url), { name: "recorder", workerData });
  };
}
