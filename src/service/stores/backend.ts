// Opens the adapters behind the ports, for a whole process or for one of its threads; with backend/ the only code that
// names adapters. Drivers of servers take half a second to load, so each is imported only where its URL is configured.
import { join } from "node:path";
import { type Config, secretKeyOf } from "../../config/config.ts";
import { activeReadStore } from "../../projections/builds/active-read-store.ts";
import { allProjections } from "../../projections/groups.ts";
import type { DailySalts } from "../../redirect/clicks/visitors/daily-salts.ts";
import { sqliteClickSpools } from "../../redirect/spool/click-spool.sqlite.ts";
import type { ClickSpools } from "../../redirect/spool/click-spool.ts";
import { copySqlite } from "../../stores/connections/copy.sqlite.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { keyringOf } from "../../stores/secrets/keyring.ts";
import { openDataFolder } from "./data-folder.ts";
import {
  type Coordination,
  type CoordinationConfig,
  openCoordination,
  openDailySalts,
} from "./open-coordination.ts";
import {
  type DocumentStoreConfig,
  type DocumentStores,
  openDocumentStores,
  openFoldStore,
  openScratchStore,
} from "./open-document-stores.ts";
import {
  type EventStoreConfig,
  type EventStoreOptions,
  openEventStore,
  openVerifiableLog,
} from "./open-event-store.ts";
import { openTogether } from "./open-together.ts";
import { ensureQueriedBuilds } from "./prepare-stores.ts";

export type Backend = Coordination &
  Omit<DocumentStores, "prepare" | "isEmbedded"> & {
    eventStore: EventStore;
    /** For queries: reads the active build of each projection. */
    readStore: ReadStore;
    /**
     * Creates missing collections and indexes; done already when all stores are embedded.
     * @throws StoreUnavailable
     */
    prepare(): Promise<void>;
    close(): Promise<void>;
  };

/** `offThread`: embedded stores run in threads of their own, so that HTTP never waits for the disk or a search. */
export type BackendOptions = EventStoreOptions & {
  /** Called when Redis becomes unavailable or available, and when files had to be made private. */
  log?: (message: string) => void;
};

type BackendConfig = EventStoreConfig &
  DocumentStoreConfig &
  CoordinationConfig &
  Pick<Config, "secretKey" | "secretKeyPrevious">;

/**
 * Opens the stores and creates the data folder; opening with `readOnly` changes nothing. A server that is unavailable is no
 * error here: calls fail until it answers.
 * @throws BadConfig for a URL that its driver refuses; secret_key_unknown when embedded secrets are encrypted with another
 * SECRET_KEY; log_form_unknown for an embedded log of another form, before anything is written; StoreUnavailable for an
 * embedded file that can't be opened
 */
export async function openBackend(config: BackendConfig, options: BackendOptions): Promise<Backend> {
  const { readOnly } = options;
  if (!readOnly) openDataFolder(config.dataDir, options.log);
  return await openTogether(async (open) => {
    // Before any file is written, as the log may be of another form.
    const eventStore = await open(openEventStore(config, options));
    const keyring = keyringOf(secretKeyOf(config, { readOnly }), config.secretKeyPrevious);
    const hashSubject = (subject: string) => keyring.hashes(subject)[0];
    const coordination = await openCoordination(open, config, hashSubject, options.log);
    const documents = await openDocumentStores(open, config, keyring, options);
    const { foldStore } = documents;
    const readStore = queriedStore(foldStore);
    const prepare = async () => {
      await documents.prepare();
      if (!readOnly) await ensureQueriedBuilds(eventStore, foldStore);
    };
    // Embedded stores are prepared here, so that a thread that opens them later finds them complete.
    if (documents.isEmbedded) await prepare();
    return { ...coordination, ...documents, readStore, eventStore, prepare };
  });
}

/** The same stores with the documents of another fold store. */
export function withDocuments(backend: Backend, foldStore: ReadStore): Backend {
  return { ...backend, foldStore, readStore: queriedStore(foldStore) };
}

function queriedStore(store: ReadStore): ReadStore {
  return activeReadStore({ store, projections: allProjections, clock: () => performance.now() });
}

/** What the recorder thread appends clicks with. @throws as openBackend does */
export async function openRecorderStores(
  config: BackendConfig,
): Promise<Pick<Backend, "eventStore" | "close"> & { dailySalts: DailySalts }> {
  openDataFolder(config.dataDir);
  return await openTogether(async (open) => ({
    dailySalts: await openDailySalts(open, config),
    eventStore: await open(openEventStore(config, { offThread: false })),
  }));
}

/**
 * Where clicks are kept on disk while the event store is unavailable; undefined for the embedded store, whose file is on
 * the same disk. `name`: of the caller's own spool; unique.
 */
export function clickSpools(config: Config, name: string): ClickSpools | undefined {
  if (config.eventStoreUrl === undefined) return undefined;
  const maxBytes = config.clickSpoolMb * 1024 * 1024;
  return sqliteClickSpools(join(config.dataDir, "click-spool"), { name, maxBytes });
}

/** What the projector thread folds with; the process has prepared the stores. @throws as openBackend does */
export async function openProjectorStores(
  config: BackendConfig,
  { pollMs }: { pollMs: number },
): Promise<Pick<Backend, "eventStore" | "foldStore" | "leases" | "close">> {
  openDataFolder(config.dataDir);
  return await openTogether(async (open) => {
    return {
      ...(await openFoldStore(open, config)),
      eventStore: await open(openEventStore(config, { offThread: false, pollMs })),
    };
  });
}

/** What the webhooks thread routes and delivers with, which is nothing of Redis. @throws as openBackend does */
export async function openWebhookStores(config: BackendConfig): Promise<Backend> {
  return await openBackend({ ...config, redisUrl: undefined }, { offThread: false });
}

export { copySqlite, openScratchStore, openVerifiableLog };
