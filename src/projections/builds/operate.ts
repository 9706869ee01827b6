// What the operator may do to the builds of a group, from the console and the command line: checked, recorded as an event,
// then done. A running projector notices within two seconds and folds; how far it is stands in the list of builds.

import type { CommandContext } from "../../commands/caller.ts";
import { type RecordDeps, recordActions } from "../../commands/record-actions.ts";
import { Refused } from "../../commands/refusals.ts";
import { PRESENT_RULES } from "../../events/classification/classify.ts";
import { closestName } from "../../runtime/text/closest-name.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Build } from "../fold/build.ts";
import { type ProjectionGroup, projectionGroups } from "../groups.ts";
import { type Builds, begin, cancel, rollBack } from "./builds.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import { dropRetired } from "./register-builds.ts";

/** `readStore`: the unmapped one. */
export type OperateDeps = RecordDeps & { readStore: ReadStore };

/** All groups when `names` is empty. @throws unknown_projection */
export function groupsNamed(names: readonly string[]): ProjectionGroup[] {
  const present = projectionGroups.map(({ name }) => name);
  const unknown = names.find((name) => !present.includes(name));
  if (unknown === undefined)
    return projectionGroups.filter(({ name }) => names.length === 0 || names.includes(name));
  const closest = closestName(unknown, present);
  const meant = closest === undefined ? "" : `did you mean ${closest}? `;
  throw new Refused(
    "unknown_projection",
    `There are no projections ${unknown}; ${meant}there are ${present.join(" and ")}`,
  );
}

/** Has the log folded again; an interrupted build goes on. `rules`: whether all clicks are classified by the present ones. */
export async function requestRebuild(
  deps: OperateDeps,
  context: CommandContext,
  group: ProjectionGroup,
  { isReclassified = false } = {},
): Promise<Builds> {
  const rules = isReclassified ? PRESENT_RULES : undefined;
  const data = { projections: [group.name], ...(rules !== undefined && { rules }) };
  await recordActions(deps, context, [{ type: "ProjectionRebuildRequested", data }]);
  return await changeBuilds(deps, group, (builds) => {
    const { building } = builds;
    const goesOn = building?.version === group.version && building.rules === rules && !building.isRollback;
    return goesOn ? builds : begin(builds, group, rules);
  });
}

/** Ends the build in the making. Undefined where there is none. @throws nothing_else_answers */
export async function cancelBuild(
  deps: OperateDeps,
  context: CommandContext,
  group: ProjectionGroup,
): Promise<Build | undefined> {
  const builds = await readBuilds(deps.readStore, group);
  const { building } = builds;
  if (!building) return undefined;
  cancel(builds, group);
  const { version, build } = building;
  const data = { projection: group.name, version, build };
  await recordActions(deps, context, [{ type: "ProjectionBuildCancelled", data }]);
  await changeBuilds(deps, group, (now) => cancel(now, group));
  await dropRetired(deps, group);
  return building;
}

/** Has the previous build folded on, and then take over. @throws no_previous_build */
export async function requestRollback(
  deps: OperateDeps,
  context: CommandContext,
  group: ProjectionGroup,
): Promise<Builds> {
  const builds = await readBuilds(deps.readStore, group);
  rollBack(builds, group);
  const [replaced, previous] = [builds.active as Build, builds.previous as Build];
  const data = {
    projection: group.name,
    version: previous.version,
    build: previous.build,
    replacedVersion: replaced.version,
    replacedBuild: replaced.build,
  };
  await recordActions(deps, context, [{ type: "ProjectionRolledBack", data }]);
  return await changeBuilds(deps, group, (now) => rollBack(now, group));
}
