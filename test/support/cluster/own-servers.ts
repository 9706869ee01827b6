// The three servers of the production set-up, with names of their own, for tests of processes that need them.
import { type EventStoreDbDouble, startDouble } from "../event-store/eventstoredb-double/double.ts";
import { deleteStreams } from "../servers/eventstoredb-server.ts";
import { mongodb, startMongodb, type TestMongodb } from "../servers/mongodb-server.ts";
import { redis, redisIsOurs, removeKeys, startRedis, type TestRedis } from "../servers/redis-server.ts";
import { onServer } from "../servers/test-servers.ts";

export type OwnServers = {
  redis: TestRedis;
  mongodb: TestMongodb;
  /** Undefined with EVENTSTORE_URL: then it is the real server. */
  events: EventStoreDbDouble | undefined;
  environment: {
    EVENTSTORE_URL: string;
    EVENTSTORE_PREFIX: string;
    MONGODB_URL: string;
    REDIS_URL: string;
    SECRET_KEY: string;
  };
  stop(): Promise<void>;
};

/** The suite, or a skipped test that says what is missing. */
export function onOwnServers(suite: () => void): void {
  onServer(mongodb, () => onServer(redis, suite));
}

/** To be called below onOwnServers. */
export async function ownServers(): Promise<OwnServers> {
  const [documents, limits] = await Promise.all([startMongodb(), startRedis()]);
  const events = process.env.EVENTSTORE_URL ? undefined : await startDouble();
  const environment = {
    EVENTSTORE_URL: process.env.EVENTSTORE_URL ?? events?.connectionString ?? "",
    EVENTSTORE_PREFIX: `t${crypto.randomUUID().slice(0, 8)}_`,
    MONGODB_URL: documents.newDatabase(),
    REDIS_URL: limits.url,
    SECRET_KEY: "a secret key for all processes of one test",
  };
  return {
    ...{ redis: limits, mongodb: documents, events, environment },
    async stop() {
      const { EVENTSTORE_URL, EVENTSTORE_PREFIX } = environment;
      await events?.close();
      if (!redisIsOurs) await removeKeys(limits.url, "linkledger:");
      if (!events) await deleteStreams(EVENTSTORE_URL, EVENTSTORE_PREFIX);
      await Promise.all([documents.stop(), limits.stop()]);
    },
  };
}
