// What the projector thread and its parent say to each other, besides the log.
import type { ProjectionStatus } from "./status.ts";

export type ToProjector = { type: "status" } | { type: "stop" };

export type FromProjector = { type: "status"; projections: ProjectionStatus[] };
