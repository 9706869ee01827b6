// Waits until builds are complete: folds those that nobody folds, and watches those that another process folds.
import { DomainError } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { checkpointName, type Projection } from "../projection.ts";
import type { Progress } from "../runner/progress.ts";
import { asBuild, type Builds, buildingOf } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { type FoldBuildsDeps, foldBuilds } from "./fold-builds.ts";
import { cancelBuilds, registerAnew, registerMissing } from "./register-builds.ts";

/** An event that a build can't fold. */
export class BuildFaulted extends DomainError {
  override readonly code = "build_faulted";
}

export class BuildCancelled extends DomainError {
  override readonly code = "build_cancelled";
}

/** `previous`: the number of the build that was active until now, if any. */
export type FinishedBuild = {
  name: string;
  version: number;
  build: number;
  previous: number | null;
  active: boolean;
  documents: number;
};

export type FinishedBuilds = { builds: FinishedBuild[]; events: number };

const LOOK_EVERY_MS = 500;

/**
 * Builds anew what there is already, by the same rules, and makes it active. An interrupted rebuild goes on.
 * @throws BuildInProgress; BuildCancelled; BuildFaulted, and then nothing is left of the new builds; what the stores throw
 */
export async function rebuild(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  onProgress: (progress: Progress) => void,
): Promise<FinishedBuilds> {
  const named = { ...deps, by: deps.newId() };
  const registered = await registerAnew(named, projections);
  return await finish(named, projections, registered, onProgress);
}

/**
 * Builds what this program's versions need and is not there yet, without making it active: the projector of this
 * version does so at its start. Answers nothing for what is there. @throws as `rebuild`
 */
export async function prepareBuilds(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  onProgress: (progress: Progress) => void,
): Promise<FinishedBuilds> {
  const named = { ...deps, by: deps.newId() };
  const registered = await registerMissing(named, projections, false);
  return await finish(named, projections, registered, onProgress);
}

async function finish(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  registered: Builds,
  onProgress: (progress: Progress) => void,
): Promise<FinishedBuilds> {
  const wanted = projections.flatMap((projection) => {
    const building = buildingOf(projection, registered);
    return building ? [asBuild(projection, building)] : [];
  });
  let events = 0;
  let open = wanted;
  while (open.length > 0) {
    const folded = await foldBuilds(deps, open, new AbortController().signal, onProgress);
    events += folded.events;
    await refuseFaults(deps, open, folded.faults);
    const now = await readBuilds(deps.readStore);
    open = open.filter((one) => {
      if (folded.complete.includes(checkpointName(one))) return false;
      const building = buildingOf(one, now);
      if (!building || building.build !== one.build) return false;
      return building.activates || building.progress.done < 1;
    });
    if (open.length > 0 && folded.events === 0) await pause(LOOK_EVERY_MS);
  }
  const now = await readBuilds(deps.readStore);
  refuseCancelled(wanted, now);
  return { builds: await Promise.all(wanted.map((one) => finished(deps, one, now))), events };
}

async function refuseFaults(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  faults: Awaited<ReturnType<typeof foldBuilds>>["faults"],
): Promise<void> {
  const [first] = faults;
  if (!first) return;
  const { projections: known } = await readBuilds(deps.readStore);
  const others = projections.filter(({ name }) => known[name]?.active);
  await cancelBuilds(deps, others);
  const { type, position, stream, error } = first.fault;
  throw new BuildFaulted(`${first.name} can't fold ${type} at ${position} (${stream}): ${error}`);
}

function refuseCancelled(projections: readonly Projection[], builds: Builds): void {
  for (const { name, version, build } of projections) {
    const { active, previous, building } = builds.projections[name] ?? {};
    if (![active, previous, building].some((one) => one?.version === version && one.build === build))
      throw new BuildCancelled(`The build of ${name} was cancelled`);
  }
}

async function finished(
  { readStore }: FoldBuildsDeps,
  projection: Projection,
  builds: Builds,
): Promise<FinishedBuild> {
  const { name, version, build = 0 } = projection;
  const { active: now, previous } = builds.projections[name] ?? {};
  const active = now?.version === version && now.build === build;
  const documents = await readStore.count(projection.collection.name, {});
  return { name, version, build, previous: (active ? previous : now)?.build ?? null, active, documents };
}
