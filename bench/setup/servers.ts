// The servers that a benchmark runs on: those named by the environment, and the double in the place of an event store.
import { randomBytes } from "node:crypto";
import { startDouble } from "../../test/support/event-store/eventstoredb-double/double.ts";
import { deleteStreams } from "../../test/support/servers/eventstoredb-server.ts";
import { startMongodb } from "../../test/support/servers/mongodb-server.ts";
import type { Environment } from "../../test/support/service/service-process.ts";

/** An event store, and what the names of all streams of this benchmark begin with, where others use it too. */
export type ServerLog = { url: string; prefix: string };

export type BenchServers = {
  /** Of the service; empty when all its stores are embedded. */
  environment: Environment;
  /** Undefined with the embedded log. */
  log: ServerLog | undefined;
  stop(): Promise<void>;
};

/**
 * EVENTSTORE_URL, MONGODB_URL and REDIS_URL of the environment, with their own stream prefix and database, which are
 * removed afterwards. `double`: on the tests' double of the event store, to measure its CPU time without a server.
 */
export async function benchServers(double: boolean | undefined): Promise<BenchServers> {
  const { EVENTSTORE_URL, MONGODB_URL, REDIS_URL } = process.env;
  const events = double ? await startDouble() : undefined;
  const mongodb = MONGODB_URL ? await startMongodb() : undefined;
  const url = events ? events.connectionString : EVENTSTORE_URL;
  // The double is the run's own, and with a prefix the service would copy each event that it reads.
  const prefix = events ? "" : `bench${randomBytes(4).toString("hex")}_`;
  const named = {
    ...(url && { EVENTSTORE_URL: url }),
    ...(url && prefix && { EVENTSTORE_PREFIX: prefix }),
    ...(mongodb && { MONGODB_URL: mongodb.newDatabase() }),
    ...(REDIS_URL && { REDIS_URL }),
  };
  const secret = { SECRET_KEY: "a secret key for the processes of one benchmark" };
  return {
    log: url ? { url, prefix } : undefined,
    environment: Object.keys(named).length > 0 ? { ...named, ...secret } : {},
    async stop() {
      if (url && !events) await deleteStreams(url, prefix);
      await Promise.all([events?.close(), mongodb?.stop()]);
    },
  };
}
