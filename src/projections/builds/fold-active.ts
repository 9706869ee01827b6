// Folds the queried builds once, to the end of the log, for CLI commands that read documents right after a change.
import type { Projection } from "../projection.ts";
import { ProjectionRunner } from "../runner/runner.ts";
import { foldedBuild, queriedBuild } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { prepareBuilds } from "./finish-builds.ts";
import type { FoldBuildsDeps } from "./fold-builds.ts";

/**
 * Queried builds of an older version are not folded and may be behind. A projection without a queryable build gets its
 * first one, or that of another process is awaited. @throws build_waits; what the stores throw
 */
export async function foldActive(deps: FoldBuildsDeps, projections: readonly Projection[]): Promise<void> {
  const builds = await readBuilds(deps.readStore);
  const folded = projections.flatMap((projection) => foldedBuild(projection, builds) ?? []);
  if (folded.length > 0) await new ProjectionRunner({ ...deps, projections: folded }).catchUp();
  const unbuilt = projections.filter((projection) => !queriedBuild(projection, builds));
  if (unbuilt.length > 0) await prepareBuilds(deps, unbuilt);
}
