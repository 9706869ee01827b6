// What the recorder thread tells the HTTP thread.
import type { ErrorFields } from "../../runtime/error-fields.ts";

/** All batches up to this one are in the store or the spool; `reached`: the last revision of each stream written. */
export type CommittedReport = {
  type: "committed";
  upTo: number;
  /** How long each append took. */
  appendSeconds: number[];
  reached: [string, number][];
};

/** Something failed and is tried again, or is well again, or (`lost`) a hit can't be an event at all. */
export type TroubleReport = { type: "trouble"; message: string; err?: ErrorFields; lost?: number };

/** What waits on disk. `full`: there was no room for the clicks that should have gone in last. */
export type SpoolReport = { type: "spool"; clicks: number; bytes: number; full: boolean };

export type RecorderReport = CommittedReport | TroubleReport | SpoolReport;
