// Chooses between the two deployments, and opens their stores for a whole process; with embedded.ts and servers.ts the
// only code that names adapters.
import { join } from "node:path";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { type ActiveReadStore, activeReadStore } from "../../projections/builds/active-read-store.ts";
import { registerBuilds } from "../../projections/builds/register-builds.ts";
import { leaseName } from "../../projections/builds/run-group.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { copySqlite } from "../../stores/connections/copy.sqlite.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { SqliteReadStore } from "../../stores/read-store/synchronous-read-store.sqlite.ts";
import { openDataFolder } from "./data-folder.ts";
import { embeddedStores } from "./embedded.ts";
import { noteLog, refuseOtherLog } from "./same-log.ts";
import { serverStores } from "./servers.ts";
import type { StoreOptions, Stores, StoresConfig } from "./stores.ts";

/** For how long a command that asks whether a lease is held may have it. */
const ASKING_MS = 1_000;

type Opened = "eventStore" | "foldStore" | "secrets" | "deliveryQueue" | "leases";

export type Backend = Pick<Stores, "counts" | "redis" | "begun" | "preparesAtOpening"> & {
  [Name in Opened]: Awaited<ReturnType<Stores[Name]>>;
} & {
  /** For queries: reads the active build of each projection. */
  readStore: ReadStore;
  /**
   * Begins the log where there is none, unless something beside it is of another one, and creates missing collections and
   * indexes; done already when all stores are embedded. @throws other_log, streams_of_others, StoreUnavailable
   */
  prepare(): Promise<void>;
  close(): Promise<void>;
};

/** Makes the data folder, but opens nothing yet. @throws the errors of the file system */
export function storesOf(config: StoresConfig, options: StoreOptions = {}): Stores {
  if (!options.readOnly) openDataFolder(config.dataDir, options.log);
  const { eventStoreUrl, mongodbUrl, redisUrl } = config;
  // All three or none (config.ts).
  if (eventStoreUrl === undefined || mongodbUrl === undefined || redisUrl === undefined)
    return embeddedStores(config, options);
  return serverStores({ ...config, eventStoreUrl, mongodbUrl, redisUrl }, options);
}

/** Whether a service that folds runs on the same servers. */
export async function isServedElsewhere({ leases }: Pick<Backend, "leases">): Promise<boolean> {
  const holder = runtimeDeps.newId();
  for (const group of projectionGroups) {
    if (!(await leases.hold(leaseName(group), holder, ASKING_MS))) return true;
    await leases.release(leaseName(group), holder);
  }
  return false;
}

/** The files that hold the data, with the log first: none of those of servers are. */
export function dataFiles({
  eventStoreUrl,
  dataDir,
}: Pick<StoresConfig, "eventStoreUrl" | "dataDir">): string[] {
  if (eventStoreUrl !== undefined) return [];
  return ["events.db", "read.db", "secrets.db", "deliveries.db"].map((name) => join(dataDir, name));
}

/**
 * Opens all stores but the counts, which commands do without; with `readOnly` nothing changes. A server that is unavailable
 * is no error here: calls fail until it answers.
 * @throws as the openers of Stores do; other_log; secret_key_unknown when embedded secrets are encrypted with another SECRET_KEY
 */
export async function openBackend(config: StoresConfig, options: StoreOptions = {}): Promise<Backend> {
  const stores = storesOf(config, options);
  try {
    // First and before any file is written, as the log may be of another form.
    const eventStore = await stores.eventStore();
    const secrets = await stores.secrets();
    const foldStore = await stores.foldStore();
    const [deliveryQueue, leases] = [await stores.deliveryQueue(), await stores.leases()];
    const kept = { ...stores, eventStore, foldStore, secrets };
    const { readOnly = false, adopts } = options;
    const prepare = async () => {
      await refuseOtherLog(kept, config, adopts);
      const { logId } = await stores.begun.begin();
      await stores.prepare();
      await noteLog(kept, config, logId, adopts);
      await registerAll(eventStore, foldStore, options);
    };
    // What can't be read is missed by whoever needs it.
    if (readOnly) await orUndefined(refuseOtherLog(kept, config));
    else if (stores.preparesAtOpening && !options.isPrepared) await prepare();
    return {
      ...stores,
      eventStore,
      readStore: queriedStore(foldStore),
      foldStore,
      secrets,
      deliveryQueue,
      leases,
      prepare,
    };
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** For queries: reads the active build of each projection. */
export function queriedStore(store: ReadStore): ActiveReadStore {
  return activeReadStore({ store, groups: projectionGroups, clock: () => performance.now() });
}

/** Lists the builds of this program, and creates the collections and indexes that queries read. @throws StoreUnavailable */
async function registerAll(
  eventStore: EventStore,
  readStore: ReadStore,
  { log }: StoreOptions,
): Promise<void> {
  const error = (_: unknown, message = "") => log?.(message);
  const deps = { eventStore, readStore, newId: runtimeDeps.newId, log: { error } };
  for (const group of projectionGroups) await registerBuilds(deps, group);
}

/**
 * An empty read store of the caller's own: a temporary file of SQLite's, which nobody else can open and which is gone when
 * it is closed, or when the process ends.
 */
export async function openScratchStore(): Promise<ReadStore> {
  return new SqliteReadStore("");
}

export { copySqlite };
