// Makes the previous builds active again; runners resume those of their own version from the checkpoints.
import { DomainError } from "../../runtime/errors.ts";
import type { Projection } from "../projection.ts";
import type { Build, Builds } from "./build.ts";
import { type BuildsDeps, changeBuilds, readBuilds } from "./builds-document.ts";

export class NoPreviousBuild extends DomainError {
  override readonly code = "no_previous_build";
}

/** `version` and `build`: the build that is active now; `previous`: number of the one that was, kept for another rollback. */
export type RolledBack = { name: string; version: number; build: number; previous: number };

/** Swaps active and previous build of each projection, all in one write. @throws NoPreviousBuild; what the store throws */
export async function rollBack(deps: BuildsDeps, projections: readonly Projection[]): Promise<RolledBack[]> {
  const swaps = swapsOf(await readBuilds(deps.readStore), projections);
  await changeBuilds(deps, (builds) => {
    for (const { name, active, previous } of swaps) {
      const entry = builds.projections[name];
      if (!entry || areSame(entry.active, previous)) continue;
      if (!areSame(entry.active, active) || !areSame(entry.previous, previous))
        throw new NoPreviousBuild(`Another build of ${name} became active in this moment; look at it again`);
      Object.assign(entry, { active: previous, previous: active });
    }
  });
  return swaps.map(({ name, active, previous }) => ({
    ...{ name, version: previous.version, build: previous.build, previous: active.build },
  }));
}

/** What a rollback would swap. @throws NoPreviousBuild */
export function swapsOf(
  builds: Builds,
  projections: readonly Projection[],
): { name: string; active: Build; previous: Build }[] {
  return projections.map(({ name }) => {
    const { active, previous } = builds.projections[name] ?? {};
    if (!active || !previous) throw new NoPreviousBuild(`There is no previous build of ${name}`);
    return { name, active, previous };
  });
}

function areSame(one: Build | undefined, other: Build): boolean {
  return one?.version === other.version && one.build === other.build;
}
