// Lets a build take over that was folded to wait: the projector catches it up and then switches to it.
import { Refused } from "../../runtime/refused.ts";
import type { Projection } from "../projection.ts";
import { type Building, type Builds, buildingOf } from "./build.ts";
import { type BuildsDeps, changeBuilds } from "./builds-document.ts";

/** @throws nothing_to_activate when there is no build of this program's version that waits; what the store throws */
export async function activateBuilds(deps: BuildsDeps, projections: readonly Projection[]): Promise<void> {
  await changeBuilds(deps, (builds) => {
    for (const { building } of activatable(builds, projections)) building.activates = true;
  });
}

/** @throws nothing_to_activate */
export function activatable(
  builds: Builds,
  projections: readonly Projection[],
): { projection: Projection; building: Building }[] {
  return projections.map((projection) => {
    const building = buildingOf(projection, builds);
    if (!building)
      throw new Refused("nothing_to_activate", `No build of ${projection.name} waits to take over`);
    return { projection, building };
  });
}
