// The builds of a group, and what becomes of them: one small document, changed by the pure functions below alone.
import { Refused } from "../../commands/refusals.ts";
import { PRESENT_RULES } from "../../events/classification/classify.ts";
import type { Build } from "../fold/build.ts";
import type { Progress } from "../fold/progress.ts";
import type { ProjectionGroup } from "../groups.ts";

/**
 * `isRollback`: it is the previous build, which folds what it lacks. `because`: what was wrong with the one that it replaces,
 * from which nothing is answered any more.
 */
export type Building = Build & { isRollback: boolean; progress: Progress; because?: string };

/**
 * `previous`: the build that was active before, kept for a rollback. `building`: takes over when it has caught up. Queries
 * get 503 without a build that they can read. `retired`: builds still to be dropped. `next`: the number of the next build;
 * numbers are not reused, so that a late write to a dropped build can't reach the collection of a newer one. `logId`: of the
 * log that they are folded from, once its service has started.
 */
export type Builds = {
  active?: Build;
  previous?: Build;
  building?: Building;
  retired: Build[];
  next: number;
  logId?: string;
};

export const NO_BUILDS: Builds = { retired: [], next: 0 };

type Version = Pick<ProjectionGroup, "version">;
type Named = Pick<ProjectionGroup, "name">;

export function isSame(build: Build | undefined, other: Build | undefined): boolean {
  return build !== undefined && build.build === other?.build;
}

/** Whether its clicks were classified again under other rules than this program's. */
export function isUnderOtherRules({ rules }: Pick<Build, "rules">): boolean {
  return rules !== undefined && rules !== PRESENT_RULES;
}

/** Whether this program folds as the build was folded. */
function isOfProgram({ version }: Version, build: Build | undefined): boolean {
  return build !== undefined && build.version === version && !isUnderOtherRules(build);
}

/** What queries of this program read: the active build, else the previous one, if its version is readable for them. */
export function queriedBuild(
  { version, readsSince }: Pick<ProjectionGroup, "version" | "readsSince">,
  { active, previous }: Builds,
): Build | undefined {
  return [active, previous].find((build) => build && build.version <= version && build.version >= readsSince);
}

/** What this program keeps up to date: the newer build of its own version and rules, as others fold by other code. */
export function keptBuild(program: Version, { active, previous }: Builds): Build | undefined {
  return [active, previous].find((build) => isOfProgram(program, build));
}

/** What this program folds until it takes over. */
export function buildingOf(program: Version, { building }: Builds): Building | undefined {
  return building && isOfProgram(program, building) ? building : undefined;
}

/** Whether a build is listed, and not one that was cancelled or replaced. */
export function isListed({ active, previous, building }: Builds, build: Build): boolean {
  return [active, previous, building].some((listed) => isSame(listed, build));
}

/**
 * As this program wants them when it starts: with a build of its version and rules. A build of a newer version that is in the
 * making is left. On an empty log the first build is complete.
 */
export function register(builds: Builds, program: Version, { isEmpty }: { isEmpty: boolean }): Builds {
  const { active, previous, building } = builds;
  if (keptBuild(program, builds) || isOfProgram(program, building)) return builds;
  if (building && building.version > program.version) return builds;
  if (!active && !previous && !building && isEmpty)
    return { ...builds, active: { version: program.version, build: builds.next }, next: builds.next + 1 };
  return begin(builds, program, active?.rules === undefined ? undefined : PRESENT_RULES);
}

/** With a new build in the making, in place of one that was there. */
export function begin(builds: Builds, { version }: Version, rules?: string): Builds {
  const build = { version, build: builds.next, ...(rules !== undefined && { rules }) };
  const building: Building = { ...build, isRollback: false, progress: NOTHING_DONE };
  return retired({ ...builds, building, next: builds.next + 1 }, builds.building);
}

/** Without a build whose documents are not those of the log, and with a new one in the making. */
export function beginAnew(builds: Builds, program: Version, wrong: Build, because: string): Builds {
  if (!isListed(builds, wrong)) return builds;
  const { active, previous, building, ...rest } = builds;
  const right = (build: Build | undefined) => build !== undefined && !isSame(build, wrong);
  const left: Builds = {
    ...rest,
    ...(active && right(active) && { active }),
    ...(previous && right(previous) && { previous }),
    ...(building && right(building) && !isSame(building, previous) && { building }),
  };
  const cleared = retired(left, wrong);
  const begun = buildingOf(program, cleared)
    ? cleared
    : begin(cleared, program, wrong.rules && PRESENT_RULES);
  return begun.building ? { ...begun, building: { ...begun.building, because } } : begun;
}

/** With the previous build in the making again. @throws no_previous_build, also for one that this program can't fold on */
export function rollBack(builds: Builds, program: Version & Named): Builds {
  const { name } = program;
  const { previous, building } = builds;
  if (!builds.active || !previous)
    throw new Refused("no_previous_build", `There is no previous build of ${name}`);
  if (!isOfProgram(program, previous))
    throw new Refused(
      "no_previous_build",
      `The previous build of ${name} has version ${previous.version} or rules that this program can't fold by: roll back with one that can`,
    );
  if (isSame(previous, building)) return builds;
  return retired(
    { ...builds, building: { ...previous, isRollback: true, progress: NOTHING_DONE } },
    building,
  );
}

/** With how far the build in the making has come; unchanged when it is no longer that one. */
export function progressed(builds: Builds, build: Build, progress: Progress): Builds {
  const { building } = builds;
  return building && isSame(building, build) ? { ...builds, building: { ...building, progress } } : builds;
}

/** The build in the making takes over, after so many events; unchanged when it is no longer that one. */
export function complete(builds: Builds, build: Build, events: number): Builds {
  const { active, previous, building, ...rest } = builds;
  if (!building || !isSame(building, build)) return builds;
  const { isRollback: _isRollback, progress: _progress, because: _because, ...complete } = building;
  return retired({ ...rest, active: { ...complete, events }, ...(active && { previous: active }) }, previous);
}

/** Without the build in the making. @throws nothing_else_answers for the first build of a group */
export function cancel(builds: Builds, { name }: Named): Builds {
  const { building, ...rest } = builds;
  if (!building) return builds;
  if (!builds.active)
    throw new Refused(
      "nothing_else_answers",
      `This is the first build of ${name}: without it there is nothing to answer from`,
    );
  return retired(rest, building);
}

/** Without builds that were dropped. */
export function dropped(builds: Builds, gone: readonly Build[]): Builds {
  return { ...builds, retired: builds.retired.filter((build) => !gone.some((dead) => isSame(dead, build))) };
}

const NOTHING_DONE: Progress = { events: 0, eventsPerSecond: 0, done: 0 };

/** With a build to be dropped, unless it is still listed, as one that a rollback had begun with. */
function retired(builds: Builds, build: Build | undefined): Builds {
  if (!build || isListed(builds, build) || builds.retired.some((listed) => isSame(listed, build)))
    return builds;
  const { version, build: number } = build;
  return { ...builds, retired: [...builds.retired, { version, build: number }] };
}
