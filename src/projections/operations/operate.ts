// What the operator may do to projections, from the console and the command line: checked, recorded as events, then done.
import type { CommandContext } from "../../commands/caller.ts";
import { type OperatorAction, type RecordDeps, recordActions } from "../../commands/record-actions.ts";
import { Refused } from "../../runtime/refused.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { activatable, activateBuilds } from "../builds/activate-build.ts";
import { readBuilds } from "../builds/builds-document.ts";
import { refuseClaimed } from "../builds/claim-builds.ts";
import {
  cancelBuilds,
  cancellable,
  registerRebuild,
  registerRollback,
  rollbacksOf,
} from "../builds/register-builds.ts";
import { allProjections } from "../groups.ts";
import type { Projection } from "../projection.ts";
import { closestName } from "./closest-name.ts";

/** `readStore`: the unmapped one. */
export type OperateDeps = RecordDeps & { readStore: ReadStore };

/** All projections when `names` is empty. @throws unknown_projection */
export function projectionsNamed(names: readonly string[]): Projection[] {
  const known = allProjections.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const closest = closestName(unknown, known);
    const meant = closest === undefined ? "" : `did you mean ${closest}? `;
    throw new Refused(
      "unknown_projection",
      `There is no projection ${unknown}; ${meant}there are ${known.join(", ")}`,
    );
  }
  return allProjections.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Records what `rebuild`, `prepareReclassified` and `requestRebuild` do. `rules`: as of a Build. @throws build_in_progress */
export async function recordRebuild(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
  activates = true,
  rules?: string,
): Promise<void> {
  refuseClaimed(deps, await readBuilds(deps.readStore), projections);
  const names = projections.map(({ name }) => name);
  const data = { projections: names, activates, ...(rules !== undefined && { rules }) };
  await recordActions(deps, context, [{ type: "ProjectionRebuildRequested", data }]);
}

/** The projector notices within a second and folds; its progress is in the builds document. @throws build_in_progress */
export async function requestRebuild(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
  activates: boolean,
): Promise<void> {
  await recordRebuild(deps, context, projections, activates);
  await registerRebuild(deps, projections, activates);
}

/** Returns the checkpoint names of what was cancelled. @throws nothing_else_answers */
export async function cancelProjectionBuilds(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<string[]> {
  const found = cancellable(await readBuilds(deps.readStore), projections);
  await recordActions(deps, context, found.map(actionOn("ProjectionBuildCancelled")));
  return await cancelBuilds(deps, projections);
}

/** @throws nothing_to_activate */
export async function activateProjectionBuilds(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<void> {
  const found = activatable(await readBuilds(deps.readStore), projections);
  await recordActions(deps, context, found.map(actionOn("ProjectionBuildActivated")));
  await activateBuilds(deps, projections);
}

/** Records what `rollBack` and `requestRollback` do. @throws no_previous_build, build_in_progress */
export async function recordRollback(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<void> {
  const builds = await readBuilds(deps.readStore);
  refuseClaimed(deps, builds, projections);
  const actions = rollbacksOf(builds, projections).map(({ projection, active, previous }): OperatorAction => {
    const { version, build } = previous;
    const replaced = { replacedVersion: active.version, replacedBuild: active.build };
    return {
      type: "ProjectionRolledBack",
      data: { projection: projection.name, version, build, ...replaced },
    };
  });
  await recordActions(deps, context, actions);
}

/** The projector notices within a second, and folds what the previous builds lack. @throws no_previous_build, build_in_progress */
export async function requestRollback(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<void> {
  await recordRollback(deps, context, projections);
  await registerRollback(deps, projections);
}

function actionOn(type: "ProjectionBuildCancelled" | "ProjectionBuildActivated") {
  return ({ projection, building }: ReturnType<typeof cancellable>[number]): OperatorAction => {
    const { version, build } = building;
    return { type, data: { projection: projection.name, version, build } };
  };
}
