// The projector role: a thread that folds while it holds the leases; without the role, the status from the read store.
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { type GroupStatus, groupStatus } from "../../projections/builds/status.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { startProjector } from "../threads/projector.ts";
import type { RoleContext } from "./role-context.ts";

/** The status of each group of projections, whichever process runs it. */
export type ProjectionsStatus = () => Promise<GroupStatus[]>;

/** While the thread does not answer, the status is that of the stores, which knows no counts of this process. */
export function openProjector(context: RoleContext): ProjectionsStatus {
  const { config, log, leaseProblems, onLastAppend } = context;
  const projector = startProjector(config, log);
  leaseProblems.set("projector", projector.leaseProblem);
  onLastAppend((withinMs) => projector.stop(withinMs));
  const stored = watchProjector(context);
  let last: GroupStatus[] = [];
  return async () => {
    const reported = await projector.status();
    if (reported) {
      last = reported;
      return reported;
    }
    const processed = new Map(last.map((status) => [status.name, status.processed]));
    return (await stored()).map((status) => ({ ...status, processed: processed.get(status.name) ?? 0 }));
  };
}

/** For a process without the projector role: from the committed checkpoints. */
export function watchProjector({ backend }: RoleContext): ProjectionsStatus {
  const { eventStore, foldStore } = backend;
  const deps = { eventStore, readStore: foldStore, clock: runtimeDeps.clock };
  const statuses = projectionGroups.map((group) => groupStatus(deps, group));
  return () => Promise.all(statuses.map((status) => status()));
}
