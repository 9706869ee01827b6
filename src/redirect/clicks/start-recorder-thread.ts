// Starts the recorder thread and types its messages for the HTTP thread.
import { Worker } from "node:worker_threads";
import type { Config } from "../../config.ts";
import type { RecorderReport } from "./recorder-report.ts";
import type { RecorderThreadData, ToRecorder } from "./recorder-thread.ts";

/** The part of a `Worker` that the recorder uses. */
export type RecorderThread = Pick<Worker, "terminate"> & {
  postMessage(message: ToRecorder): void;
  on(event: "message", listener: (report: RecorderReport) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
};

/** `revisions`: as in ClickWriterDeps. */
export type StartRecorderThread = (revisions: ReadonlyMap<string, number>) => RecorderThread;

/** Starts recorder-thread.ts. `writer`: as in ClickWriterDeps, new for each process. */
export function recorderThreadStarter(config: Config, writer: string): StartRecorderThread {
  return (revisions) => {
    const workerData: RecorderThreadData = { config, writer, revisions };
    return new Worker(new URL("./recorder-thread.ts", import.meta.url), { name: "recorder", workerData });
  };
}
