// Folds once, to the end of the log, what queries are answered from: for commands, which look at documents right after.
import type { Projection } from "../projection.ts";
import { ProjectionRunner } from "../runner/runner.ts";
import { answeringBuild, foldedBuild } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { prepareBuilds } from "./finish-builds.ts";
import type { FoldBuildsDeps } from "./fold-builds.ts";

/**
 * Builds of an older version stay as its own program left them: they may be behind. Where nothing answers yet the first
 * build is made, or waited for. @throws BuildFaulted; what the stores throw
 */
export async function foldActive(deps: FoldBuildsDeps, projections: readonly Projection[]): Promise<void> {
  const builds = await readBuilds(deps.readStore);
  const folded = projections.flatMap((projection) => foldedBuild(projection, builds) ?? []);
  if (folded.length > 0) await new ProjectionRunner({ ...deps, projections: folded }).catchUp();
  const unanswered = projections.filter((projection) => !answeringBuild(projection, builds));
  if (unanswered.length > 0) await prepareBuilds(deps, unanswered, () => undefined);
}
