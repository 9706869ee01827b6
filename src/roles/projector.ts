// The projector role: a thread that folds while it holds the leases; without the role, the status from the read store.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { clickProjections, lifecycleProjections } from "../projections/groups.ts";
import { startProjector } from "../projections/runner/projector.ts";
import { type ProjectionStatus, projectionStatus } from "../projections/runner/status.ts";
import type { RoleContext } from "./role-context.ts";

/** The status of each projection, whichever process runs it. */
export type ProjectionsStatus = () => Promise<ProjectionStatus[]>;

export function openProjector({ config, log, roles, onStop }: RoleContext): ProjectionsStatus {
  const projector = startProjector(config, log, roles.has("redirect"));
  onStop((withinMs) => projector.stop(withinMs));
  return () => projector.status();
}

/** For a process without the projector role: from the committed checkpoints. */
export function watchProjector({ backend }: RoleContext): ProjectionsStatus {
  const { eventStore, foldStore } = backend;
  const statuses = [lifecycleProjections, clickProjections].map((projections) =>
    projectionStatus({ eventStore, readStore: foldStore, clock: runtimeDeps.clock, projections }),
  );
  return async () => (await Promise.all(statuses.map((status) => status()))).flat();
}
