// The only file that knows which adapters stand behind the ports: opens them, and closes them in order. Those that
// need a server are loaded when they are configured: their drivers cost half a second at every start of a thread.
import { join } from "node:path";
import { memoryRateLimits } from "./api/limits/rate-limit.memory.ts";
import type { RateLimits } from "./api/limits/rate-limit.ts";
import { withOwnLimits } from "./api/limits/rate-limit-fallback.ts";
import { copySqlite } from "./cli/backup.sqlite.ts";
import { runtimeDeps } from "./commands/runtime-deps.ts";
import { BadConfig, type Config, secretKeyOf } from "./config.ts";
import { claimForDataFolder } from "./coordination/claim-data-folder.ts";
import { memoryLeases } from "./coordination/leases.memory.ts";
import type { Leases } from "./coordination/leases.ts";
import type { EventStore } from "./event-store/port.ts";
import { prefixedEventStore } from "./event-store/prefixed-event-store.ts";
import { openSqliteEventStore } from "./event-store/sqlite/event-store.ts";
import { activeReadStore } from "./projections/builds/active-read-store.ts";
import { answeringBuild } from "./projections/builds/build.ts";
import { adoptBuilds } from "./projections/builds/register-builds.ts";
import { allProjections } from "./projections/groups.ts";
import type { ReadStore } from "./read-store/port.ts";
import { openSqliteReadStore } from "./read-store/sqlite/read-store.ts";
import { fileDailySalts } from "./redirect/clicks/visitors/daily-salts.files.ts";
import type { DailySalts } from "./redirect/clicks/visitors/daily-salts.ts";
import { sqliteClickSpools } from "./redirect/spool/click-spool.sqlite.ts";
import type { ClickSpools } from "./redirect/spool/click-spool.ts";
import { openPrivateFolder } from "./runtime/private-folder.ts";
import { type EncryptedSecrets, encryptedSecrets } from "./secrets/encrypted-secrets.ts";
import { type Keyring, keyringOf } from "./secrets/keyring.ts";
import type { Secrets } from "./secrets/port.ts";
import { openSqliteSecrets } from "./secrets/sqlite.ts";
import { openSqliteDeliveryQueue } from "./webhooks/queue/queue.sqlite.ts";
import type { DeliveryQueue } from "./webhooks/queue/queue.ts";

export type Backend = {
  eventStore: EventStore;
  /** For queries: each projection as the build that answers. */
  readStore: ReadStore;
  /** For what folds: every build of every projection. */
  foldStore: ReadStore;
  /** Encrypted at rest. */
  secrets: EncryptedSecrets;
  deliveryQueue: DeliveryQueue;
  /** In MongoDB, else in Redis, else among the parts of this thread only. */
  leases: Leases;
  /** Shared through Redis when it is configured; while it is away each process counts for itself. */
  rateLimits(clock: () => Date): RateLimits;
  /** In Redis, else in a file of their own for the processes that share the data folder. */
  dailySalts: DailySalts;
  /** Undefined without Redis. */
  redis: { readonly unavailable: boolean } | undefined;
  /**
   * Makes collections and indexes that are missing; embedded stores have them already.
   * @throws StoreUnavailable; BadConfig when the stores can't work together
   */
  prepare(): Promise<void>;
  close(): Promise<void>;
};

export type BackendOptions = {
  /** Embedded stores work in threads of their own, for a caller that must not wait on the disk or a search (HTTP). */
  offThread: boolean;
  /** How soon the embedded event store sees what other threads and processes append; its own default when absent. */
  pollMs?: number;
  /** Told when Redis goes and comes, and when files had to be made private. */
  log?: (message: string) => void;
};

type Settings =
  | "secretKey"
  | "secretKeyPrevious"
  | "baseHost"
  | "eventStoreUrl"
  | "eventStorePrefix"
  | "mongodbUrl"
  | "redisUrl";
type BackendConfig = Pick<Config, "dataDir"> & Partial<Pick<Config, Settings>>;
type Open = <S extends { close(): Promise<void> }>(store: S | Promise<S>) => Promise<S>;

const clock = () => performance.now();
/** What lies in the data folder, SQLite's own companions included. */
const OWN_FILES =
  /^((events|read|secrets|deliveries)\.db(-wal|-shm|-journal)?|secret\.key|click-spool|visitor-salts)$/;

/**
 * Opens the stores and makes the data folder. A server that is away is no error here: what is asked of it later fails
 * until it is there.
 * @throws BadConfig for an address that its driver can't read; SecretKeyUnknown for embedded secrets that are encrypted
 * with another SECRET_KEY; StoreUnavailable for an embedded file that can't be opened
 */
export async function openBackend(config: BackendConfig, options: BackendOptions): Promise<Backend> {
  return await closedTogether(config, options.log, async (open) => {
    const keyring = keyringOf(secretKeyOf(config), config.secretKeyPrevious);
    const hide = (subject: string) => keyring.hashes(subject)[0];
    const coordination = config.redisUrl
      ? await onRedis(open, { ...config, redisUrl: config.redisUrl }, hide, options.log)
      : inProcess(config.dataDir);
    const documents = config.mongodbUrl
      ? await onMongodb(open, config.mongodbUrl, keyring)
      : await onFiles(open, config.dataDir, keyring, options);
    const eventStore = await open(openEventStore(config, options));
    const readStore = activeReadStore({ store: documents.foldStore, projections: allProjections, clock });
    const prepare = async () => {
      await refuseSplitStores(config, { eventStore, secrets: documents.secrets });
      await documents.prepare();
      await ensureDocuments(eventStore, documents.foldStore);
    };
    // Embedded stores are there; who opens a thread on them needs not ask.
    if (!config.mongodbUrl) await documents.prepare();
    if (!config.mongodbUrl && !config.eventStoreUrl) await ensureDocuments(eventStore, documents.foldStore);
    return { ...coordination, ...documents, readStore, eventStore, prepare };
  });
}

/** What brings clicks to the log. @throws as openBackend does */
export async function openRecorderStores(
  config: BackendConfig,
): Promise<Pick<Backend, "eventStore" | "dailySalts" | "close">> {
  return await closedTogether(config, undefined, async (open) => {
    const dailySalts = config.redisUrl
      ? (await import("./redirect/clicks/visitors/daily-salts.redis.ts")).redisDailySalts(
          await redisOf(open, { ...config, redisUrl: config.redisUrl }),
        )
      : inProcess(config.dataDir).dailySalts;
    return { dailySalts, eventStore: await open(openEventStore(config, { offThread: false })) };
  });
}

/** What folds the log into documents. The process has prepared them. @throws as openBackend does */
export async function openProjectorStores(
  config: BackendConfig,
  { pollMs }: Required<Pick<BackendOptions, "pollMs">>,
): Promise<Pick<Backend, "eventStore" | "foldStore" | "leases" | "close">> {
  return await closedTogether(config, undefined, async (open) => {
    const { foldStore, leases } = await foldingStores(open, config);
    return {
      foldStore,
      leases,
      eventStore: await open(openEventStore(config, { offThread: false, pollMs })),
    };
  });
}

/** What routes and delivers. Of Redis it uses the leases alone, which are in MongoDB where there is one. @throws as openBackend does */
export async function openWebhookStores(config: BackendConfig): Promise<Backend> {
  const { mongodbUrl, redisUrl } = config;
  return await openBackend({ ...config, redisUrl: mongodbUrl ? undefined : redisUrl }, { offThread: false });
}

async function foldingStores(
  open: Open,
  config: BackendConfig,
): Promise<Pick<Backend, "foldStore" | "leases">> {
  if (config.mongodbUrl) {
    const connection = await mongodbAt(open, config.mongodbUrl);
    const { openMongodbReadStore } = await import("./read-store/mongodb/read-store.ts");
    const { mongodbLeases } = await import("./coordination/leases.mongodb.ts");
    return { foldStore: await openMongodbReadStore(connection), leases: mongodbLeases(connection) };
  }
  const foldStore = await open(openSqliteReadStore(join(config.dataDir, "read.db"), { offThread: false }));
  if (!config.redisUrl) return { foldStore, leases: memoryLeases(clock) };
  const { redisLeases } = await import("./coordination/leases.redis.ts");
  return { foldStore, leases: redisLeases(await redisOf(open, { ...config, redisUrl: config.redisUrl })) };
}

/** With a close for all that was opened, in the opposite order; it is called when one can't be opened. */
async function closedTogether<T>(
  { dataDir }: BackendConfig,
  log: BackendOptions["log"],
  openAll: (open: Open) => Promise<T>,
): Promise<T & Pick<Backend, "close">> {
  openDataFolder(dataDir, log);
  const opened: { close(): Promise<void> }[] = [];
  const open: Open = async (store) => {
    const ready = await store;
    opened.unshift(ready);
    return ready;
  };
  const close = async () => {
    for (const store of opened.splice(0)) await store.close();
  };
  try {
    return { ...(await openAll(open)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The event store alone, for a thread that needs no other. @throws BadConfig, StoreUnavailable as openBackend does */
export async function openEventStore(
  config: BackendConfig,
  { offThread, pollMs }: Pick<BackendOptions, "offThread" | "pollMs">,
): Promise<EventStore> {
  if (config.eventStoreUrl) return await onEventStoreDb(config.eventStoreUrl, config.eventStorePrefix);
  const file = join(config.dataDir, "events.db");
  return await openSqliteEventStore(file, { offThread, ...(pollMs === undefined ? {} : { pollMs }) });
}

/** Whether a part of what must be one is shared by machines and a part is files of this one. */
export function areStoresMixed(config: Partial<Pick<Config, "eventStoreUrl" | "mongodbUrl">>): boolean {
  return Boolean(config.eventStoreUrl) !== Boolean(config.mongodbUrl);
}

/** @throws BadConfig when another data folder holds the rest of what the shared store belongs to */
async function refuseSplitStores(
  config: Parameters<typeof areStoresMixed>[0] & Pick<Config, "dataDir">,
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

/**
 * Where clicks wait while the event store is away; undefined when that is on the same disk. `name`: of the caller's
 * own spool, given to no other, sorting after the names of the writer's earlier ones.
 */
export function clickSpools(config: Config, name: string): ClickSpools | undefined {
  if (config.eventStoreUrl === undefined) return undefined;
  const maxBytes = config.clickSpoolMb * 1024 * 1024;
  return sqliteClickSpools(join(config.dataDir, "click-spool"), { name, maxBytes });
}

/** Versions before this one left files that every user of the machine could read. */
function openDataFolder(dataDir: string, log: BackendOptions["log"] = () => undefined): void {
  const { tightened, refused } = openPrivateFolder(dataDir, (name) => OWN_FILES.test(name));
  if (tightened.length > 0) log(`DATA_DIR: took the rights of other users from ${tightened.join(", ")}`);
  if (refused.length > 0)
    log(`DATA_DIR: other users may read ${refused.join(", ")}, which another user owns`);
}

/** One embedded file, as of one moment; see copySqlite. */
export const copyEmbedded = copySqlite;

type Documents = Pick<Backend, "foldStore" | "secrets" | "deliveryQueue" | "prepare"> &
  Partial<Pick<Backend, "leases">>;

async function onFiles(
  open: Open,
  dataDir: string,
  keyring: Keyring,
  { offThread }: Pick<BackendOptions, "offThread">,
): Promise<Documents> {
  const stored = await open(openSqliteSecrets(join(dataDir, "secrets.db"), { offThread }));
  const secrets = encryptedSecrets(stored, keyring);
  const foldStore = await open(openSqliteReadStore(join(dataDir, "read.db"), { offThread }));
  const deliveryQueue = await open(openSqliteDeliveryQueue(join(dataDir, "deliveries.db"), { offThread }));
  return { secrets, foldStore, deliveryQueue, prepare: () => secrets.checkKey() };
}

async function onMongodb(open: Open, url: string, keyring: Keyring): Promise<Documents> {
  const { openMongodbReadStore } = await import("./read-store/mongodb/read-store.ts");
  const { mongodbSecrets, prepareSecrets } = await import("./secrets/mongodb.ts");
  const { ensureDeliveryIndexes, mongodbDeliveryQueue } = await import("./webhooks/queue/queue.mongodb.ts");
  const { mongodbLeases } = await import("./coordination/leases.mongodb.ts");
  const connection = await mongodbAt(open, url);
  const foldStore = await openMongodbReadStore(connection);
  const secrets = encryptedSecrets(mongodbSecrets(connection), keyring);
  return {
    secrets,
    foldStore,
    deliveryQueue: mongodbDeliveryQueue(connection),
    leases: mongodbLeases(connection),
    async prepare() {
      await prepareSecrets(connection);
      await secrets.checkKey();
      await ensureDeliveryIndexes(connection);
    },
  };
}

async function mongodbAt(open: Open, url: string) {
  const { MongodbConnection } = await import("./connections/mongodb.ts");
  return await open(readable("MONGODB_URL", () => new MongodbConnection(url)));
}

async function onEventStoreDb(url: string, prefix = ""): Promise<EventStore> {
  const { openEventStoreDb } = await import("./event-store/eventstoredb/event-store.ts");
  try {
    return prefixedEventStore(await openEventStoreDb(url, { greet: false }), prefix);
  } catch (error) {
    throw new BadConfig([`EVENTSTORE_URL: ${(error as Error).message}`]);
  }
}

async function redisOf(
  open: Open,
  config: BackendConfig & { redisUrl: string },
  log: (message: string) => void = () => undefined,
) {
  const { openRedis } = await import("./connections/redis.ts");
  // Services with other base hosts may share the server.
  const prefix = `linkledger:${config.eventStorePrefix ?? ""}${config.baseHost}:`;
  return await open(openRedis(config.redisUrl, { log, prefix }));
}

async function onRedis(
  open: Open,
  config: BackendConfig & { redisUrl: string },
  hide: (subject: string) => string,
  log: BackendOptions["log"],
) {
  const { redisLeases } = await import("./coordination/leases.redis.ts");
  const { redisRateLimits } = await import("./api/limits/rate-limit.redis.ts");
  const { redisDailySalts } = await import("./redirect/clicks/visitors/daily-salts.redis.ts");
  const redis = await redisOf(open, config, log);
  return {
    redis,
    leases: redisLeases(redis),
    rateLimits: (now: () => Date) => withOwnLimits(redisRateLimits(redis, hide), memoryRateLimits(now)),
    dailySalts: redisDailySalts(redis),
  };
}

function inProcess(dataDir: string) {
  return {
    dailySalts: fileDailySalts(join(dataDir, "visitor-salts")),
    redis: undefined,
    leases: memoryLeases(clock),
    rateLimits: memoryRateLimits,
  };
}

async function ensureDocuments(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const builds = await adoptBuilds({ eventStore, readStore, newId: runtimeDeps.newId }, allProjections);
  const answering = allProjections.flatMap((projection) => answeringBuild(projection, builds) ?? []);
  await readStore.ensure(answering.map(({ collection }) => collection));
}

/** Drivers repeat what they were given, passwords and all: of their errors only the variable's name is told. */
function readable<T>(variable: string, connect: () => T): T {
  try {
    return connect();
  } catch (error) {
    throw new BadConfig([`${variable}: its driver can't read it (${(error as Error).name})`]);
  }
}
