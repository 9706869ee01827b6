// Opens the stores of the deployment with servers: EventStoreDB or KurrentDB, MongoDB and Redis. Their drivers take half a
// second to load, so each is imported when it is first needed.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { BadConfig } from "../../config/config.ts";
import { sqliteJournalFiles } from "../../redirect/clicks/journal-file.sqlite.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import { openers } from "../../stores/connections/openers.ts";
import { prefixedEventStore } from "../../stores/event-store/prefixed-event-store.ts";
import { encryptedSecrets } from "../../stores/secrets/encrypted-secrets.ts";
import { begunLog } from "./begun-log.ts";
import { notedLogId } from "./same-log.ts";
import { hiddenBy, keyringFor, type StoreOptions, type Stores, type StoresConfig } from "./stores.ts";

export type ServersConfig = StoresConfig & { eventStoreUrl: string; mongodbUrl: string; redisUrl: string };

/** A server that is unavailable is no error when it is opened: calls fail until it answers. */
export function serverStores(config: ServersConfig, options: StoreOptions): Stores {
  const { opener, close } = openers();
  const { eventStorePrefix = "", clickJournalMb = 0 } = config;
  const openLog = () => openEventStore(config.eventStoreUrl, eventStorePrefix);
  const begun = begunLog(opener(openLog), options);
  const mongodb = opener(() => connectMongodb(config.mongodbUrl));
  const secrets = opener(async () => {
    const { mongodbSecrets } = await import("../../stores/secrets/secret-store.mongodb.ts");
    return encryptedSecrets(mongodbSecrets(await mongodb()), keyringFor(config, options));
  });
  let logId: string | undefined;
  /** As it is noted in the secrets, so that visitors are led on by a process that starts while the event store is away. */
  const knownLogId = async () => {
    logId ??= (await orUndefined(secrets().then(notedLogId))) ?? (await begun.required()).logId;
    return logId;
  };
  const redis = opener(async () => {
    const { openRedis } = await import("../../stores/connections/redis.ts");
    // Services with different logs may share a Redis server.
    const prefix = async () => `linkledger:${await knownLogId()}:`;
    return await openRedis(config.redisUrl, { log: options.log ?? (() => undefined), prefix });
  });
  return {
    preparesAtOpening: false,
    eventStore: begun.eventStore,
    begun,
    openVerifiableLog: () => begunLog(openLog, { readOnly: true }).eventStore(),
    foldStore: opener(async () => {
      const { openMongodbReadStore } = await import("../../stores/read-store/read-store.mongodb.ts");
      return await openMongodbReadStore(await mongodb());
    }),
    secrets,
    deliveryQueue: opener(async () => {
      const { MongodbDeliveryQueue } = await import("../../webhooks/queue/queue.mongodb.ts");
      return new MongodbDeliveryQueue(await mongodb());
    }),
    async leases() {
      const { mongodbLeases } = await import("../../stores/coordination/leases.mongodb.ts");
      return mongodbLeases(await mongodb(), () => performance.now());
    },
    async counts() {
      const { redisCounts } = await import("../../stores/counts/counts.redis.ts");
      return redisCounts(await redis(), hiddenBy(config, options));
    },
    redis,
    async dailySalts() {
      const { redisDailySalts } = await import("../../redirect/clicks/visitors/daily-salts.redis.ts");
      return redisDailySalts(await redis());
    },
    journal() {
      const folder = join(config.dataDir, "click-journal");
      const maxBytes = clickJournalMb * 1024 * 1024;
      const files = sqliteJournalFiles(folder, { maxBytes, newName: randomUUID });
      return { files, logId: async () => (await begun.required()).logId, notedLogId: knownLogId };
    },
    served: { writer: {}, reader: {} },
    async prepare() {
      const { prepareSecrets } = await import("../../stores/secrets/secret-store.mongodb.ts");
      const { prepareDeliveries } = await import("../../webhooks/queue/queue.mongodb.ts");
      await prepareSecrets(await mongodb());
      await (await secrets()).checkKey();
      await prepareDeliveries(await mongodb());
    },
    close,
  };
}

async function openEventStore(url: string, prefix: string) {
  const { openEventStoreDb } = await import("../../stores/event-store/eventstoredb/event-store.ts");
  try {
    return prefixedEventStore(await openEventStoreDb(url), prefix);
  } catch (error) {
    throw new BadConfig([`EVENTSTORE_URL: ${(error as Error).message}`]);
  }
}

/** The driver's error messages may repeat the URL with its password, so only the class of the error is passed on. */
async function connectMongodb(url: string) {
  const { MongodbConnection } = await import("../../stores/connections/mongodb.ts");
  try {
    return new MongodbConnection(url);
  } catch (error) {
    throw new BadConfig([`MONGODB_URL: its driver can't read it (${(error as Error).name})`]);
  }
}
