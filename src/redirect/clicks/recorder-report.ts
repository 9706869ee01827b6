// The messages that the recorder thread sends to the HTTP thread.
import type { ErrorFields } from "../../runtime/error-fields.ts";

/** All batches up to `upTo` are in the store or the spool. `reached`: last revision of each written stream. */
export type CommittedReport = {
  type: "committed";
  upTo: number;
  /** Duration of each append. */
  appendSeconds: number[];
  reached: [string, number][];
};

/**
 * A failure that is retried, its end, or (`lost`) hits that can't be turned into events. `outage`: of the appends to the
 * event store.
 */
export type ProblemReport = {
  type: "problem";
  message: string;
  err?: ErrorFields;
  lost?: number;
  outage?: "began" | "ended";
};

/** Clicks in the spool. `full`: the last clicks did not fit and stay in memory. */
export type SpoolReport = { type: "spool"; clicks: number; bytes: number; full: boolean };

export type RecorderReport = CommittedReport | ProblemReport | SpoolReport;
