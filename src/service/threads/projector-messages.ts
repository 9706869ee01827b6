// The messages between the projector thread and its parent, apart from log lines.
import type { Config } from "../../config/config.ts";
import type { GroupStatus } from "../../projections/builds/status.ts";

export type ProjectorThreadData = { config: Config };

export type ToProjector = { type: "status" } | { type: "stop" };

/** `projections`: undefined while they can't be read. `leaseProblem`: as WatchedLeases tells it. */
export type FromProjector = {
  type: "status";
  projections: GroupStatus[] | undefined;
  leaseProblem: string | undefined;
};
