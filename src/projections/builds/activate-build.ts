// Lets a build take over that was folded to wait: the projector catches it up and then switches to it.
import { DomainError } from "../../runtime/errors.ts";
import type { Projection } from "../projection.ts";
import { type Building, type Builds, buildingOf } from "./build.ts";
import { type BuildsDeps, changeBuilds } from "./builds-document.ts";

export class NothingToActivate extends DomainError {
  override readonly code = "nothing_to_activate";
}

/** @throws NothingToActivate when there is no build of this program's version that waits; what the store throws */
export async function activateBuilds(deps: BuildsDeps, projections: readonly Projection[]): Promise<void> {
  await changeBuilds(deps, (builds) => {
    for (const { building } of activatable(builds, projections)) building.activates = true;
  });
}

/** @throws NothingToActivate */
export function activatable(
  builds: Builds,
  projections: readonly Projection[],
): { projection: Projection; building: Building }[] {
  return projections.map((projection) => {
    const building = buildingOf(projection, builds);
    if (!building) throw new NothingToActivate(`No build of ${projection.name} waits to take over`);
    return { projection, building };
  });
}
