// What the projector thread and its parent say to each other.
import type { ProjectionStatus } from "./status.ts";

export type ToProjector = { type: "status" } | { type: "stop" };

export type FromProjector =
  | { type: "status"; projections: ProjectionStatus[] }
  /** The parent writes the log, so that one process has one log. */
  | { type: "log"; level: "info" | "warn" | "error"; fields: object; message: string };
