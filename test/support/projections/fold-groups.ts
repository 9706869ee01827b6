// Folds groups of projections once, to the end of the log: into build 0 of each, or into the builds that are listed.
import { finishBuild } from "../../../src/projections/builds/await-builds.ts";
import { buildingOf, keptBuild, queriedBuild } from "../../../src/projections/builds/builds.ts";
import type { CompleteDeps } from "../../../src/projections/builds/complete-build.ts";
import { registerBuilds } from "../../../src/projections/builds/register-builds.ts";
import type { Build } from "../../../src/projections/fold/build.ts";
import { foldBuild } from "../../../src/projections/fold/fold-build.ts";
import type { FoldDeps } from "../../../src/projections/fold/fold-deps.ts";
import { type ProjectionGroup, projectionGroups } from "../../../src/projections/groups.ts";
import { pause } from "../../../src/runtime/pause.ts";
import { loggedEvents } from "../event-store/logged-events.ts";

type Stores = Pick<FoldDeps, "eventStore" | "readStore" | "clock">;

export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export function firstBuild({ version }: Pick<ProjectionGroup, "version">): Build {
  return { version, build: 0 };
}

export async function foldGroups(
  stores: Stores,
  groups: readonly ProjectionGroup[] = projectionGroups,
): Promise<void> {
  const { signal } = new AbortController();
  const deps = { ...stores, log: silent };
  for (const group of groups) await foldBuild(deps, group, firstBuild(group), { signal, follows: false });
}

/** Into what is queried, as a program would that starts and ends. A queried build of an older version isn't folded. */
export async function foldListed(deps: CompleteDeps, group: ProjectionGroup): Promise<void> {
  const { signal } = new AbortController();
  const builds = await registerBuilds(deps, group);
  const kept = keptBuild(group, builds);
  if (kept) await foldBuild(deps, group, kept, { signal, follows: false });
  if (!queriedBuild(group, builds) && buildingOf(group, builds))
    await finishBuild({ ...deps, isServed: async () => false }, group, builds, signal);
}

/** Folds as a projector does, until all events are in the documents. */
export async function foldLive(stores: Stores, group: ProjectionGroup): Promise<void> {
  const { eventStore, readStore } = stores;
  const ended = new AbortController();
  const options = { signal: ended.signal, follows: true };
  const folding = foldBuild({ ...stores, log: silent }, group, firstBuild(group), options);
  const isCaughtUp = async () => {
    const [next] = await loggedEvents(eventStore, { categories: group.categories, limit: 1 });
    const checkpoint = await readStore.checkpoint(group.name);
    if (!next) return true;
    if (!checkpoint || checkpoint.more) return false;
    const after = checkpoint.position;
    return (await loggedEvents(eventStore, { after, categories: group.categories, limit: 1 })).length === 0;
  };
  const watching = async () => {
    while (!ended.signal.aborted && !(await isCaughtUp())) await pause(5);
    ended.abort();
  };
  await Promise.all([folding.finally(() => ended.abort()), watching()]);
}
