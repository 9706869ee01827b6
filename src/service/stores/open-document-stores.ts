// Opens the read store, the secrets and the delivery queue: in MongoDB when MONGODB_URL is set, else in SQLite files.
import { join } from "node:path";
import { BadConfig, type Config } from "../../config/config.ts";
import { memoryLeases } from "../../stores/coordination/leases.memory.ts";
import type { Leases } from "../../stores/coordination/leases.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { openSqliteReadStore } from "../../stores/read-store/sqlite/read-store.ts";
import { SqliteReadStore } from "../../stores/read-store/sqlite/synchronous-read-store.ts";
import { type EncryptedSecrets, encryptedSecrets } from "../../stores/secrets/encrypted-secrets.ts";
import type { Keyring } from "../../stores/secrets/keyring.ts";
import { openSqliteSecrets } from "../../stores/secrets/sqlite.ts";
import { openSqliteDeliveryQueue } from "../../webhooks/queue/queue.sqlite.ts";
import type { DeliveryQueue } from "../../webhooks/queue/queue.ts";
import type { EventStoreOptions } from "./open-event-store.ts";
import type { Open } from "./open-together.ts";

export type DocumentStoreConfig = Pick<Config, "dataDir" | "mongodbUrl">;

export type DocumentStores = {
  /** For writers of projections: holds the collections of every build. */
  foldStore: ReadStore;
  /** Encrypted at rest. */
  secrets: EncryptedSecrets;
  deliveryQueue: DeliveryQueue;
  /** Whether all of them are files of this machine, so that they can be prepared when they are opened. */
  isEmbedded: boolean;
  /** Checks SECRET_KEY and creates missing indexes. @throws StoreUnavailable, secret_key_unknown */
  prepare(): Promise<void>;
  /** In MongoDB, else among the jobs of this thread only. */
  leases: Leases;
};

/** @throws BadConfig for a MONGODB_URL that the driver refuses; StoreUnavailable for a file that can't be opened */
export async function openDocumentStores(
  open: Open,
  { dataDir, mongodbUrl }: DocumentStoreConfig,
  keyring: Keyring,
  { offThread, readOnly }: Pick<EventStoreOptions, "offThread" | "readOnly">,
): Promise<DocumentStores> {
  if (mongodbUrl) return await openInMongodb(open, mongodbUrl, keyring);
  const options = { offThread, readOnly };
  const stored = await open(openSqliteSecrets(join(dataDir, "secrets.db"), options));
  const secrets = encryptedSecrets(stored, keyring);
  const foldStore = await open(openSqliteReadStore(join(dataDir, "read.db"), options));
  const deliveryQueue = await open(openSqliteDeliveryQueue(join(dataDir, "deliveries.db"), options));
  const prepare = () => secrets.checkKey();
  return { secrets, foldStore, deliveryQueue, leases: ownLeases(), isEmbedded: true, prepare };
}

/** The read store alone, with the leases that come with it. @throws as openDocumentStores does */
export async function openFoldStore(
  open: Open,
  { dataDir, mongodbUrl }: DocumentStoreConfig,
): Promise<Pick<DocumentStores, "foldStore" | "leases">> {
  if (!mongodbUrl)
    return { foldStore: await open(openSqliteReadStore(join(dataDir, "read.db"))), leases: ownLeases() };
  const connection = await connectMongodb(open, mongodbUrl);
  const { openMongodbReadStore } = await import("../../stores/read-store/mongodb/read-store.ts");
  const { mongodbLeases } = await import("../../stores/coordination/leases.mongodb.ts");
  return { foldStore: await openMongodbReadStore(connection), leases: mongodbLeases(connection) };
}

function ownLeases(): Leases {
  return memoryLeases(() => performance.now());
}

/**
 * An empty read store of the caller's own: a temporary file of SQLite's, which nobody else can open and which is gone when
 * it is closed, or when the process ends.
 */
export async function openScratchStore(): Promise<ReadStore> {
  return new SqliteReadStore("");
}

async function openInMongodb(open: Open, url: string, keyring: Keyring): Promise<DocumentStores> {
  const { openMongodbReadStore } = await import("../../stores/read-store/mongodb/read-store.ts");
  const { mongodbSecrets, prepareSecrets } = await import("../../stores/secrets/mongodb.ts");
  const { ensureDeliveryIndexes, mongodbDeliveryQueue } = await import(
    "../../webhooks/queue/queue.mongodb.ts"
  );
  const { mongodbLeases } = await import("../../stores/coordination/leases.mongodb.ts");
  const connection = await connectMongodb(open, url);
  const foldStore = await openMongodbReadStore(connection);
  const secrets = encryptedSecrets(mongodbSecrets(connection), keyring);
  return {
    secrets,
    foldStore,
    deliveryQueue: mongodbDeliveryQueue(connection),
    leases: mongodbLeases(connection),
    isEmbedded: false,
    async prepare() {
      await prepareSecrets(connection);
      await secrets.checkKey();
      await ensureDeliveryIndexes(connection);
    },
  };
}

/** The driver's error messages may repeat the URL with its password, so only the class of the error is passed on. */
async function connectMongodb(open: Open, url: string) {
  const { MongodbConnection } = await import("../../stores/connections/mongodb.ts");
  try {
    return await open(new MongodbConnection(url));
  } catch (error) {
    throw new BadConfig([`MONGODB_URL: its driver can't read it (${(error as Error).name})`]);
  }
}
