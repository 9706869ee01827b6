// Claims on builds in progress: each is folded by one process at a time, which renews its claim as long as it runs.

import { CLOCK_SKEW_MS } from "../../runtime/moment.ts";
import { Refused } from "../../runtime/refused.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { checkpointName, type Projection } from "../projection.ts";
import type { Progress } from "../runner/progress.ts";
import { asBuild, type Building, type Builds, buildingOf, isKept } from "./build.ts";
import { changeBuilds } from "./builds-document.ts";
import { dropBuild } from "./retire-builds.ts";

export type ClaimDeps = {
  /** The unmapped store, not activeReadStore. */
  readStore: ReadStore;
  clock: () => Date;
  newId: () => string;
  /**
   * The claimant's id: builds that it has claimed already are resumed. When absent, builds are registered unclaimed, and
   * folded by a new id for each call.
   */
  by?: string;
};

export type Claim = { by: string; builds: readonly Projection[] };

/** A claim that was not renewed for so long has expired. Two concurrent claimants are harmless: writes are guarded. */
const CLAIM_EXPIRES_MS = 10_000;

/** Claims the builds of this program's version that are free. @throws what the store throws */
export async function claimBuilds(deps: ClaimDeps, projections: readonly Projection[]): Promise<Claim> {
  const by = deps.by ?? deps.newId();
  const builds = await changeBuilds(deps, (now) => {
    for (const projection of projections) {
      const building = buildingOf(projection, now);
      if (building && isFree({ ...deps, by }, building))
        Object.assign(building, { by, aliveAt: deps.clock().toISOString() } satisfies Partial<Building>);
    }
  });
  const held = projections.flatMap((projection) => {
    const building = buildingOf(projection, builds);
    return building?.by === by ? [asBuild(projection, building)] : [];
  });
  return { by, builds: held };
}

/** False when the claim of one build was lost. @throws what the store throws */
export async function renewClaim(deps: ClaimDeps, claim: Claim, progress: Progress): Promise<boolean> {
  return holdsAll(claim, await changeClaimed(deps, claim, { aliveAt: deps.clock().toISOString(), progress }));
}

/** Gives up the claim. Builds that were cancelled are dropped again, as a write of ours may have recreated a collection. */
export async function releaseBuilds(deps: ClaimDeps, claim: Claim, progress?: Progress): Promise<void> {
  const builds = await changeClaimed(deps, claim, { by: "", ...(progress && { progress }) });
  for (const build of claim.builds)
    if (!isKept(build, builds)) await dropBuild(deps.readStore, checkpointName(build), build.collection.name);
}

/** The build in progress, if the claim still holds it. */
export function claimed(
  { by }: Claim,
  { name, build }: Projection,
  { projections }: Builds,
): Building | undefined {
  const building = projections[name]?.building;
  return building?.by === by && building.build === build ? building : undefined;
}

export function holdsAll(claim: Claim, builds: Builds): boolean {
  return claim.builds.every((build) => claimed(claim, build, builds));
}

/** @throws build_in_progress while another process folds a build of one of them */
export function refuseClaimed(
  deps: Pick<ClaimDeps, "clock" | "by">,
  builds: Builds,
  projections: readonly Projection[],
): void {
  const taken = projections.find(({ name }) => {
    const building = builds.projections[name]?.building;
    return building !== undefined && !isFree(deps, building);
  });
  if (taken)
    throw new Refused("build_in_progress", `${taken.name} is being built; try again when that has ended`);
}

/** Whether the build is unclaimed, claimed by the caller, or its claim has expired. */
export function isFree({ clock, by }: Pick<ClaimDeps, "clock" | "by">, building: Building): boolean {
  if (building.by === "" || building.by === by) return true;
  const age = clock().getTime() - Date.parse(building.aliveAt);
  // One of a later time than clocks differ by was made before the clock was set back.
  return age >= CLAIM_EXPIRES_MS || age < -CLOCK_SKEW_MS;
}

async function changeClaimed(deps: ClaimDeps, claim: Claim, changes: Partial<Building>): Promise<Builds> {
  return await changeBuilds(deps, (now) => {
    for (const build of claim.builds) {
      const building = claimed(claim, build, now);
      if (building) Object.assign(building, changes);
    }
  });
}
