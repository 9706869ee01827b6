// A Redis for the suites: the one at REDIS_URL, else Debian's redis-server on a free port, keeping nothing.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Redis } from "ioredis";
import { openRedis, type RedisConnection } from "../../../src/stores/connections/redis.ts";
import { freePort } from "./free-port.ts";
import { type Server, type ServerProcess, serverProcess } from "./test-servers.ts";

const installed = (process.env.PATH ?? "")
  .split(delimiter)
  .some((folder) => existsSync(join(folder, "redis-server")));

export const redis: Server = {
  name: "redis",
  reason: process.env.REDIS_URL || installed ? undefined : "set REDIS_URL or install redis-server",
};

/** The program, for suites that start it in their own way. */
export const redisServer: Server = {
  name: "redis-server",
  reason: installed ? undefined : "install redis-server",
};

/** Whether the server is ours, so that a test may kill it. */
export const redisIsOurs = !process.env.REDIS_URL;

export type TestRedis = {
  url: string;
  /** Before all keys of this suite, so that it can share a server. */
  prefix: string;
  /** Ours only. */
  process: ServerProcess | undefined;
  connect(): Promise<RedisConnection>;
  /** Closes the connections, removes the keys, ends the server if it is ours. */
  stop(): Promise<void>;
};

export async function startRedis(): Promise<TestRedis> {
  const prefix = `linkledger-test:${crypto.randomUUID()}:`;
  const theirs = process.env.REDIS_URL;
  const port = theirs ? 0 : await freePort();
  const ours = theirs ? undefined : serverProcess(port, ["redis-server", ...settings(port)]);
  await ours?.start();
  const url = theirs ?? `redis://127.0.0.1:${port}`;
  const connections: RedisConnection[] = [];
  return {
    url,
    prefix,
    process: ours,
    async connect() {
      const connection = await openRedis(url, { prefix: async () => prefix, log: () => undefined });
      connections.push(connection);
      return connection;
    },
    async stop() {
      for (const connection of connections) await connection.close();
      if (ours) await ours.kill();
      else await removeKeys(url, prefix);
    },
  };
}

function settings(port: number): string[] {
  return ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
}

/** What a suite left on a server that others use too. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const client = new Redis(url);
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 500 })) {
    if (keys.length > 0) await client.del(...(keys as string[]));
  }
  client.disconnect();
}
