// The messages between the projector thread and its parent, apart from log lines.
import type { Config } from "../../config.ts";
import type { ProjectionStatus } from "./status.ts";

/** `yields`: whether the thread runs at a lower priority than the other threads of its process. */
export type ProjectorThreadData = { config: Config; yields: boolean };

export type ToProjector = { type: "status" } | { type: "stop" };

export type FromProjector = { type: "status"; projections: ProjectionStatus[] };
