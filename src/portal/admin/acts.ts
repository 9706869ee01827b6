// What the operator can do from the console, for its forms and its JSON API alike.
import type { CommandContext } from "../../commands/caller.ts";
import {
  activateProjectionBuilds,
  cancelProjectionBuilds,
  projectionsNamed,
  requestRebuild,
  requestRollback,
} from "../../projections/operations/operate.ts";
import type { ConsoleDeps } from "./guard.ts";

export const PROJECTION_ACTS = ["rebuild", "cancel", "activate", "rollback"] as const;
export type ProjectionAct = (typeof PROJECTION_ACTS)[number];

/** `waits`: of a rebuild, that it does not take over by itself. @throws what refuses the act (projections/operations) */
export async function performAct(
  { foldStore, eventStore, clock, newId }: ConsoleDeps,
  context: CommandContext,
  { act, projection, waits }: { act: ProjectionAct; projection: string; waits: boolean },
): Promise<void> {
  const deps = { eventStore, clock, newId, readStore: foldStore };
  const chosen = projectionsNamed([projection]);
  switch (act) {
    case "rebuild":
      return await requestRebuild(deps, context, chosen, !waits);
    case "cancel":
      return void (await cancelProjectionBuilds(deps, context, chosen));
    case "activate":
      return await activateProjectionBuilds(deps, context, chosen);
    case "rollback":
      return await requestRollback(deps, context, chosen);
  }
}
