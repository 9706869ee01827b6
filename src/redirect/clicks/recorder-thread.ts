// The recorder thread as the HTTP thread sees it: what is sent to it and what it reports.
import type { Worker } from "node:worker_threads";
import type { HitBatch } from "./hit.ts";
import type { RecorderReport } from "./recorder-report.ts";

/** `stop` ends the thread; the parent sends it when everything is committed. */
export type ToRecorder = HitBatch | "stop";

/** The part of a `Worker` that the recorder uses. */
export type RecorderThread = Pick<Worker, "terminate"> & {
  postMessage(message: ToRecorder): void;
  on(event: "message", listener: (report: RecorderReport) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
};

/** `revisions`: as in ClickWriterDeps. */
export type StartRecorderThread = (revisions: ReadonlyMap<string, number>) => RecorderThread;
