// Registers builds in the builds document.
import { PRESENT_RULES } from "../../events/classification/classify.ts";
import { Refused } from "../../runtime/refused.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { checkpointName, type Projection } from "../projection.ts";
import {
  asBuild,
  type Build,
  type Building,
  type Builds,
  entryOf,
  foldedBuild,
  isSameBuild,
  isUnderOtherRules,
  numbered,
} from "./build.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import { type ClaimDeps, refuseClaimed } from "./claim-builds.ts";
import { dropRetired, retire } from "./retire-builds.ts";

/**
 * Lists each projection that is not listed: on an empty log with build 0, which is complete; else without a build.
 * @throws what the stores throw
 */
export async function registerProjections(
  deps: Pick<ClaimDeps, "readStore" | "newId"> & { eventStore: Pick<EventStore, "head"> },
  projections: readonly Projection[],
): Promise<Builds> {
  const known = await readBuilds(deps.readStore);
  if (projections.every(({ name }) => known.projections[name])) return known;
  const isEmpty = (await deps.eventStore.head()) === undefined;
  return await changeBuilds(deps, (builds) => {
    for (const projection of projections)
      builds.projections[projection.name] ??= isEmpty ? { active: numbered(projection, 0) } : {};
  });
}

/**
 * Registers a build for each projection that has none of this program's version and rules; where the active one has
 * clicks classified again, the new one has them so under the present rules. @throws what the store throws
 */
export async function registerMissing(
  deps: ClaimDeps,
  projections: readonly Projection[],
  activates: boolean,
): Promise<Builds> {
  return await changeBuilds(deps, (builds) => {
    const number = builds.next;
    for (const projection of projections) {
      const entry = builds.projections[projection.name];
      if (foldedBuild(projection, builds)) continue;
      const { building } = entry ?? {};
      // Only one build is in progress for each projection, and a newer version's is not replaced.
      if (building && building.version > projection.version) continue;
      const rules = entry?.active?.rules === undefined ? undefined : PRESENT_RULES;
      if (building?.version === projection.version && building.rules === rules)
        building.activates ||= activates;
      else register(deps, builds, projection, { activates, rules }, number);
    }
  });
}

/**
 * Whether a concurrent write has undone what was registered: on servers whose conditional updates are not atomic, such as
 * FerretDB, a write that began earlier may end later. A cancelled build is no such loss: its number stays used.
 */
export function isUndone(registered: Builds, now: Builds, projections: readonly Projection[]): boolean {
  const hasNone = ({ name }: Projection) => {
    const { active, previous, building } = now.projections[name] ?? {};
    return !active && !previous && !building;
  };
  return now.next < registered.next || projections.some(hasNone);
}

/**
 * Registers another build of each, or resumes an interrupted one under the same rules. `activates`: whether it takes over
 * when it has caught up. `rules`: as of a Build. @throws build_in_progress while another process folds one
 */
export async function registerRebuild(
  deps: ClaimDeps,
  projections: readonly Projection[],
  activates = true,
  rules?: string,
): Promise<Builds> {
  return await changeBuilds(deps, (builds) => {
    const number = builds.next;
    refuseClaimed(deps, builds, projections);
    for (const projection of projections) {
      const { building, previous } = builds.projections[projection.name] ?? {};
      const isRollback = isSameBuild(building, previous);
      if (building?.version === projection.version && building.rules === rules && !isRollback)
        building.activates = activates;
      else register(deps, builds, projection, { activates, rules }, number);
    }
  });
}

/**
 * Has the previous build of each folded on from its checkpoint, and then take over; resumes a rollback that was interrupted.
 * @throws no_previous_build; build_in_progress while another process folds one
 */
export async function registerRollback(deps: ClaimDeps, projections: readonly Projection[]): Promise<Builds> {
  return await changeBuilds(deps, (builds) => {
    refuseClaimed(deps, builds, projections);
    for (const { projection, previous } of rollbacksOf(builds, projections)) {
      const entry = entryOf(projection, builds);
      const { building } = entry;
      if (isSameBuild(building, previous)) continue;
      entry.building = inProgress(deps, previous, true);
      if (building) retire(builds, projection, building);
    }
  });
}

/** What a rollback replaces by what. @throws no_previous_build also for one that this program can't fold on */
export function rollbacksOf(
  builds: Builds,
  projections: readonly Projection[],
): { projection: Projection; active: Build; previous: Build }[] {
  return projections.map((projection) => {
    const { name, version } = projection;
    const { active, previous } = builds.projections[name] ?? {};
    if (!active || !previous) throw new Refused("no_previous_build", `There is no previous build of ${name}`);
    if (previous.version !== version || isUnderOtherRules(previous))
      throw new Refused(
        "no_previous_build",
        `The previous build of ${name} has version ${previous.version} or rules that this program can't fold by: roll back with one that can`,
      );
    return { projection, active, previous };
  });
}

/** Removes and drops builds in progress; a process that folds one of them stops. Returns their checkpoint names. */
export async function cancelBuilds(deps: ClaimDeps, projections: readonly Projection[]): Promise<string[]> {
  const cancelled: string[] = [];
  await changeBuilds(deps, (builds) => {
    cancelled.length = 0;
    for (const { projection, building } of cancellable(builds, projections)) {
      cancelled.push(checkpointName(asBuild(projection, building)));
      delete builds.projections[projection.name]?.building;
      retire(builds, projection, building);
    }
  });
  await dropRetired(deps, projections);
  return cancelled;
}

/** The builds in progress. @throws nothing_else_answers for the first build of a projection */
export function cancellable(
  builds: Builds,
  projections: readonly Projection[],
): { projection: Projection; building: Building }[] {
  return projections.flatMap((projection) => {
    const { active, building } = builds.projections[projection.name] ?? {};
    if (!building) return [];
    if (!active)
      throw new Refused(
        "nothing_else_answers",
        `This is the first build of ${projection.name}: without it there is nothing to answer from`,
      );
    return [{ projection, building }];
  });
}

function register(
  deps: ClaimDeps,
  builds: Builds,
  projection: Projection,
  { activates, rules }: { activates: boolean; rules: string | undefined },
  number: number,
): void {
  const entry = entryOf(projection, builds);
  builds.projections[projection.name] = entry;
  const { building } = entry;
  const isFirst = !entry.active && !entry.previous && !building;
  if (!isFirst) builds.next = number + 1;
  const build = { ...numbered(projection, isFirst ? 0 : number), ...(rules !== undefined && { rules }) };
  entry.building = inProgress(deps, build, activates || isFirst);
  if (building) retire(builds, projection, building);
}

function inProgress(deps: ClaimDeps, build: Build, activates: boolean): Building {
  return {
    ...build,
    ...{ by: deps.by ?? "", aliveAt: deps.clock().toISOString(), activates },
    progress: { events: 0, eventsPerSecond: 0, done: 0 },
  };
}
