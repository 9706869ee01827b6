// The projector role: a thread that folds while it holds the leases; without the role, only how far it is.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { clickProjections, lifecycleProjections } from "../projections/groups.ts";
import { startProjector } from "../projections/runner/projector.ts";
import { type ProjectionStatus, projectionStatus } from "../projections/runner/status.ts";
import type { RoleContext } from "./role-context.ts";

/** Answers how far each projection is, wherever it runs. */
export type ProjectionsStatus = () => Promise<ProjectionStatus[]>;

export function openProjector({ config, log, roles, onStop }: RoleContext): ProjectionsStatus {
  const projector = startProjector(config, log, roles.has("redirect"));
  onStop((withinMs) => projector.stop(withinMs));
  return () => projector.status();
}

/** From the checkpoints that the projector's process commits. */
export function watchProjector({ backend }: RoleContext): ProjectionsStatus {
  const { eventStore, foldStore } = backend;
  const ask = [lifecycleProjections, clickProjections].map((projections) =>
    projectionStatus({ eventStore, readStore: foldStore, clock: runtimeDeps.clock, projections }),
  );
  return async () => (await Promise.all(ask.map((status) => status()))).flat();
}
