// What must hold before the stores are used: every projection has a build.
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { queriedBuild } from "../../projections/builds/build.ts";
import { registerProjections } from "../../projections/builds/register-builds.ts";
import { allProjections } from "../../projections/groups.ts";
import { collectionsOf } from "../../projections/projection.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

/** Lists the projections, and creates the collections and indexes that queries read. @throws StoreUnavailable */
export async function ensureQueriedBuilds(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const builds = await registerProjections(
    { eventStore, readStore, newId: runtimeDeps.newId },
    allProjections,
  );
  const queried = allProjections.flatMap((projection) => queriedBuild(projection, builds) ?? []);
  await readStore.ensure(queried.flatMap(collectionsOf));
}
