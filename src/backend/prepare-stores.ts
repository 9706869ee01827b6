// What must hold before the stores are used: they belong to one installation, and every projection has a build.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { BadConfig, type Config } from "../config.ts";
import { claimForDataFolder } from "../coordination/claim-data-folder.ts";
import type { EventStore } from "../event-store/port.ts";
import { queriedBuild } from "../projections/builds/build.ts";
import { registerProjections } from "../projections/builds/register-builds.ts";
import { allProjections } from "../projections/groups.ts";
import { collectionsOf } from "../projections/projection.ts";
import type { ReadStore } from "../read-store/port.ts";
import type { Secrets } from "../secrets/port.ts";

type StoreUrls = Pick<Config, "eventStoreUrl" | "mongodbUrl">;

/** Whether only the log or only the documents are on a server, and the other is in files of this machine. */
export function areStoresMixed(config: StoreUrls): boolean {
  return Boolean(config.eventStoreUrl) !== Boolean(config.mongodbUrl);
}

/** @throws BadConfig when the server is used with another data folder already */
export async function refuseSplitStores(
  config: StoreUrls & Pick<Config, "dataDir">,
  stores: { eventStore: EventStore; secrets: Secrets },
): Promise<void> {
  if (!areStoresMixed(config)) return;
  const [variable, shared, other] = config.eventStoreUrl
    ? (["EVENTSTORE_URL", "log", "MONGODB_URL"] as const)
    : (["MONGODB_URL", "documents", "EVENTSTORE_URL"] as const);
  const { clock, newId } = runtimeDeps;
  if (await claimForDataFolder({ ...stores, clock, newId }, shared)) return;
  throw new BadConfig([
    `${variable}: it is used with another data folder than ${config.dataDir} already; for more than one, set ${other} too`,
  ]);
}

/** Lists the projections, and creates the collections and indexes that queries read. @throws StoreUnavailable */
export async function ensureQueriedBuilds(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const builds = await registerProjections(
    { eventStore, readStore, newId: runtimeDeps.newId },
    allProjections,
  );
  const queried = allProjections.flatMap((projection) => queriedBuild(projection, builds) ?? []);
  await readStore.ensure(queried.flatMap(collectionsOf));
}
