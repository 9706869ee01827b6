// Waits until builds are complete: folds those that are unclaimed, and polls those that another process folds.
import { pause } from "../../runtime/pause.ts";
import { Refused } from "../../runtime/refused.ts";
import { checkpointName, collectionsOf, type Projection } from "../projection.ts";
import { asBuild, type Builds, buildingOf, isKept } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { type FoldBuildsDeps, type FoldedBuilds, foldBuilds } from "./fold-builds.ts";
import { registerMissing, registerRebuild, registerRollback } from "./register-builds.ts";

/** `previous`: number of the build that was active before, null for none. */
export type FinishedBuild = {
  name: string;
  version: number;
  build: number;
  previous: number | null;
  active: boolean;
  documents: number;
};

export type FinishedBuilds = { builds: FinishedBuild[]; events: number };

/** Claims the builds that it registers, so that no other process folds them meanwhile. */
type Claimant = FoldBuildsDeps & { by: string };

const POLL_MS = 500;

/**
 * Folds a second build of the present version and makes it active; resumes an interrupted rebuild.
 * @throws build_in_progress; build_cancelled; build_waits; what the stores throw; the signal's reason
 */
export async function rebuild(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  signal?: AbortSignal,
): Promise<FinishedBuilds> {
  return await finish(deps, projections, (claimant) => registerRebuild(claimant, projections), signal);
}

/**
 * Folds the builds that this program's versions lack, without activating them: the projector of this version does that
 * when it starts. Returns only the builds that were missing. @throws as `rebuild`
 */
export async function prepareBuilds(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  signal?: AbortSignal,
): Promise<FinishedBuilds> {
  const register = (claimant: Claimant) => registerMissing(claimant, projections, false);
  return await finish(deps, projections, register, signal);
}

/**
 * Folds a second build of the present version, with clicks classified again under these rules, and leaves it waiting to
 * be activated. @throws as `rebuild`
 */
export async function prepareReclassified(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  rules: string,
  signal?: AbortSignal,
): Promise<FinishedBuilds> {
  const register = (claimant: Claimant) => registerRebuild(claimant, projections, false, rules);
  return await finish(deps, projections, register, signal);
}

/**
 * Folds into the previous builds what they lack, and makes them active again; resumes an interrupted rollback. Cancelled,
 * they stay the previous ones. @throws no_previous_build; as `rebuild`
 */
export async function rollBack(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  signal?: AbortSignal,
): Promise<FinishedBuilds> {
  const register = (claimant: Claimant) => registerRollback(claimant, projections);
  const finished = await finish(deps, projections, register, signal);
  const cancelled = finished.builds.find(({ active }) => !active);
  if (cancelled) throw new Refused("build_cancelled", `The rollback of ${cancelled.name} was cancelled`);
  return finished;
}

/** Folds builds that are registered already, such as those that were just told to take over. @throws as `rebuild` */
export async function finishBuilds(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  signal?: AbortSignal,
): Promise<FinishedBuilds> {
  return await finish(deps, projections, () => readBuilds(deps.readStore), signal);
}

async function finish(
  given: FoldBuildsDeps,
  projections: readonly Projection[],
  register: (claimant: Claimant) => Promise<Builds>,
  signal = new AbortController().signal,
): Promise<FinishedBuilds> {
  const deps: Claimant = { ...given, by: given.newId() };
  const registered = await register(deps);
  const wanted = projections.flatMap((projection) => {
    const building = buildingOf(projection, registered);
    return building ? [asBuild(projection, building)] : [];
  });
  let events = 0;
  let unfinished = wanted;
  while (unfinished.length > 0) {
    signal.throwIfAborted();
    const folded = await foldBuilds(deps, unfinished, signal);
    events += folded.events;
    refuseWaiting(folded.waiting);
    const now = await readBuilds(deps.readStore);
    unfinished = unfinished.filter((one) => {
      const building = buildingOf(one, now);
      if (!building || building.build !== one.build) return false;
      // Where guarded updates are not atomic, a concurrent write may have undone the one that activated it.
      if (folded.complete.includes(checkpointName(one)) && !building.activates) return false;
      return building.activates || building.progress.done < 1;
    });
    if (unfinished.length > 0 && folded.events === 0) await pause(POLL_MS);
  }
  const now = await readBuilds(deps.readStore);
  refuseCancelled(wanted, now);
  return { builds: await Promise.all(wanted.map((one) => finished(deps, one, now))), events };
}

function refuseWaiting([first]: FoldedBuilds["waiting"]): void {
  if (!first) return;
  const { type, position, stream } = first.waitsFor;
  throw new Refused(
    "build_waits",
    `${first.name} waits for a newer program, to fold ${type} at ${position} (${stream})`,
  );
}

function refuseCancelled(projections: readonly Projection[], builds: Builds): void {
  const cancelled = projections.find((build) => !isKept(build, builds));
  if (cancelled) throw new Refused("build_cancelled", `The build of ${cancelled.name} was cancelled`);
}

async function finished(
  { readStore }: FoldBuildsDeps,
  projection: Projection,
  builds: Builds,
): Promise<FinishedBuild> {
  const { name, version, build = 0 } = projection;
  const { active: now, previous } = builds.projections[name] ?? {};
  const active = now?.version === version && now.build === build;
  let documents = 0;
  for (const collection of collectionsOf(projection)) documents += await readStore.count(collection.name, {});
  return { name, version, build, previous: (active ? previous : now)?.build ?? null, active, documents };
}
