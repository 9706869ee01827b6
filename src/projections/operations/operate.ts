// What the operator may do to projections, from the console and the command line: checked, recorded as events, then done.
import type { CommandContext } from "../../commands/caller.ts";
import {
  type OperatorAction,
  type RecordDeps,
  recordActions,
} from "../../commands/operator/record-actions.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { DomainError } from "../../runtime/errors.ts";
import { activatable, activateBuilds } from "../builds/activate-build.ts";
import { readBuilds } from "../builds/builds-document.ts";
import { refuseClaimed } from "../builds/claim-builds.ts";
import { cancelBuilds, cancellable, registerRebuild } from "../builds/register-builds.ts";
import { faultedOf, retryFaults } from "../builds/retry-faults.ts";
import { type RolledBack, rollBack, swapsOf } from "../builds/roll-back.ts";
import { allProjections } from "../groups.ts";
import type { Projection } from "../projection.ts";

export class UnknownProjection extends DomainError {
  override readonly code = "unknown_projection";
}

/** `readStore`: the unmapped one. */
export type OperateDeps = RecordDeps & { readStore: ReadStore };

/** All projections when `names` is empty. @throws UnknownProjection */
export function projectionsNamed(names: readonly string[]): Projection[] {
  const known = allProjections.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UnknownProjection(`There is no projection ${unknown}; there are ${known.join(", ")}`);
  return allProjections.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Records what `rebuild`, `prepareReclassified` and `requestRebuild` do. `rules`: as of a Build. @throws BuildInProgress */
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

/** The projector notices within a second and folds; its progress is in the builds document. @throws BuildInProgress */
export async function requestRebuild(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
  activates: boolean,
): Promise<void> {
  await recordRebuild(deps, context, projections, activates);
  await registerRebuild(deps, projections, activates);
}

/** Returns the checkpoint names of what was cancelled. @throws NothingElseAnswers */
export async function cancelProjectionBuilds(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<string[]> {
  const found = cancellable(await readBuilds(deps.readStore), projections);
  await recordActions(deps, context, found.map(actionOn("ProjectionBuildCancelled")));
  return await cancelBuilds(deps, projections);
}

/** @throws NothingToActivate */
export async function activateProjectionBuilds(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<void> {
  const found = activatable(await readBuilds(deps.readStore), projections);
  await recordActions(deps, context, found.map(actionOn("ProjectionBuildActivated")));
  await activateBuilds(deps, projections);
}

/** @throws NoPreviousBuild */
export async function rollBackProjections(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<RolledBack[]> {
  const swaps = swapsOf(await readBuilds(deps.readStore), projections);
  const actions = swaps.map(({ name, active, previous }): OperatorAction => {
    const { version, build } = previous;
    const replaced = { replacedVersion: active.version, replacedBuild: active.build };
    return { type: "ProjectionRolledBack", data: { projection: name, version, build, ...replaced } };
  });
  await recordActions(deps, context, actions);
  return await rollBack(deps, projections);
}

/** @throws NotFaulted */
export async function retryProjectionFaults(
  deps: OperateDeps,
  context: CommandContext,
  projections: readonly Projection[],
): Promise<void> {
  const [builds, checkpoints] = await Promise.all([readBuilds(deps.readStore), deps.readStore.checkpoints()]);
  const actions = faultedOf(builds, checkpoints, projections).map(({ projection, fault }): OperatorAction => {
    const { name, version, build = 0 } = projection;
    const { position, stream, type } = fault;
    return {
      type: "ProjectionFaultRetried",
      data: { projection: name, version, build, position, stream, type },
    };
  });
  await recordActions(deps, context, actions);
  await retryFaults(deps, projections);
}

function actionOn(type: "ProjectionBuildCancelled" | "ProjectionBuildActivated") {
  return ({ projection, building }: ReturnType<typeof cancellable>[number]): OperatorAction => {
    const { version, build } = building;
    return { type, data: { projection: projection.name, version, build } };
  };
}
