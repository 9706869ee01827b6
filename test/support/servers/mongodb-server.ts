// A MongoDB for the suites: the one at MONGODB_URL, else a compatible server of our own (.ci/servers/mongodb).
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MongoClient } from "mongodb";
import { beforeAll } from "vitest";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { freePort } from "./free-port.ts";
import { type Server, type ServerProcess, serverProcess } from "./test-servers.ts";

const program = fileURLToPath(new URL("../../../.cache/servers/mongodb", import.meta.url));

export const mongodb: Server = {
  name: "mongodb",
  reason:
    process.env.MONGODB_URL || existsSync(program)
      ? undefined
      : "set MONGODB_URL or run .ci/servers/mongodb/install.sh",
};

/** Whether the server is ours, so that a test may kill it. */
export const mongodbIsOurs = !process.env.MONGODB_URL;

export type TestMongodb = {
  /** A connection string to a database that no one else uses. */
  newDatabase(): string;
  /** Ours only. */
  process: ServerProcess | undefined;
  /** Drops the databases, ends the server if it is ours. */
  stop(): Promise<void>;
};

/** Registers the hook that starts a server before the tests of a suite, and stops it after them. */
export function mongodbOfSuite(): Omit<TestMongodb, "stop"> {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });
  return {
    newDatabase: () => server.newDatabase(),
    get process() {
      return server.process;
    },
  };
}

export async function startMongodb(): Promise<TestMongodb> {
  const theirs = process.env.MONGODB_URL;
  const databases: string[] = [];
  const newDatabaseAt = (url: string) => () => {
    const database = `linkledger_test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
    databases.push(database);
    return withDatabase(url, database);
  };
  if (theirs) {
    return {
      newDatabase: newDatabaseAt(theirs),
      process: undefined,
      async stop() {
        const client = new MongoClient(theirs);
        for (const database of databases) await client.db(database).dropDatabase();
        await client.close();
      },
    };
  }
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "mongodb"));
  const port = await freePort();
  const ours = serverProcess(port, [program, `127.0.0.1:${port}`, join(folder.path, "mongodb")]);
  await ours.start();
  return {
    newDatabase: newDatabaseAt(`mongodb://127.0.0.1:${port}/`),
    process: ours,
    async stop() {
      await ours.kill();
      await folder.remove();
    },
  };
}

/** The credentials' database moves to `authSource`, where the driver would otherwise look for it in the path. */
function withDatabase(url: string, database: string): string {
  const [, start = url, path = "", query = ""] = /^([^?]*:\/\/[^/?]*)\/?([^?]*)\??(.*)$/.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  if (path && start.includes("@") && !parameters.has("authSource")) parameters.set("authSource", path);
  return `${start}/${database}?${parameters}`;
}
