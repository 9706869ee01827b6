// Two logs on one event store, told apart by their prefixes, and two databases: each is served beside its own alone.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAccount } from "../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../src/config/config.ts";
import { type Backend, openBackend } from "../../src/service/stores/backend.ts";
import { type OwnServers, onOwnServers, ownServers } from "../support/cluster/own-servers.ts";
import { operator } from "../support/commands/command-deps.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { commandLine, commandProcess } from "../support/service/command-line.ts";

const PLACE = { setAside: { count: 0, events: [] }, days: [] };

onOwnServers(() =>
  describe("a log on servers", () => {
    let folder: TemporaryFolder;
    let servers: OwnServers;
    let prefixes: Record<"one" | "two" | "new", string>;
    let databases: Record<"one" | "two" | "new", string>;
    const logs: Record<string, string> = {};

    beforeAll(async () => {
      folder = await temporaryFolder();
      servers = await ownServers();
      const { EVENTSTORE_PREFIX } = servers.environment;
      const named = (name: string) => `${EVENTSTORE_PREFIX}${name}_`;
      prefixes = { one: named("one"), two: named("two"), new: named("new") };
      const database = () => servers.mongodb.newDatabase();
      databases = { one: database(), two: database(), new: database() };
      for (const name of ["one", "two"] as const)
        logs[name] = await withBackend(environment(name, name), async (backend) => {
          await backend.prepare();
          const { logId, position } = await backend.begun.required();
          await openAccount({ ...runtimeDeps, ...backend }, operator, {
            email: "a@example.com",
            tier: "free",
          });
          await backend.deliveryQueue.noteRouted({ ...PLACE, position, eventId: runtimeDeps.newId(), logId });
          return logId;
        });
    });
    afterAll(async () => {
      await servers.stop();
      await folder.remove();
    });

    const environment = (log: keyof typeof prefixes, database: keyof typeof databases) => ({
      ...servers.environment,
      EVENTSTORE_PREFIX: prefixes[log],
      MONGODB_URL: databases[database],
      DATA_DIR: join(folder.path, `${log}-${database}`),
    });
    const withBackend = async <T>(given: Record<string, string>, use: (backend: Backend) => Promise<T>) => {
      const backend = await openBackend(parseConfig(given));
      try {
        return await use(backend);
      } finally {
        await backend.close();
      }
    };
    const documentsIn = async (url: string) => {
      const client = new MongoClient(url);
      const db = client.db();
      const names = (await db.listCollections().toArray()).map(({ name }) => name).sort();
      const all = await Promise.all(
        names.map(async (name) => [name, await db.collection(name).find().toArray()]),
      );
      await client.close();
      return all;
    };

    it.each([
      ["one", "two"],
      ["two", "one"],
    ] as const)(
      "%s is refused beside the documents, secrets and deliveries of %s, and changes nothing",
      async (log, other) => {
        const given = environment(log, other);
        await mkdir(given.DATA_DIR, { recursive: true });
        const before = await documentsIn(databases[other]);
        const refusal = `belong to the log ${logs[other]}, but the log of EVENTSTORE_URL under the prefix "${prefixes[log]}" is ${logs[log]}: is EVENTSTORE_URL, EVENTSTORE_PREFIX or MONGODB_URL that of another service? Nothing was changed. If they are meant to go together: linkledger log adopt ${logs[log]}`;
        const command = commandLine(given.DATA_DIR, given);
        expect(await command.refused("projections", "status")).toContain(refusal);
        expect(await command.refused("secrets", "rotate")).toContain(refusal);
        const serve = commandProcess(given.DATA_DIR, { ...given, PORT: "0", BASE_URL: "http://localhost" });
        const { code, stdout, stderr } = await serve.linkledger(["serve"]);
        // Where the servers are slow it listens already, and its log says why it stops.
        const said = stderr + stdout.replaceAll('\\"', '"');
        expect([code, said]).toEqual([1, expect.stringContaining(refusal)]);
        expect(await documentsIn(databases[other])).toEqual(before);
      },
    );

    it("is not begun beside what belongs to another", async () => {
      await withBackend(environment("new", "one"), async (backend) => {
        await expect(backend.prepare()).rejects.toMatchObject({ code: "other_log" });
        expect(await backend.begun.beginning()).toBeUndefined();
      });
    });

    it("with accounts is refused beside secrets that have never seen it, until it is adopted", async () => {
      const given = environment("one", "new");
      await mkdir(given.DATA_DIR, { recursive: true });
      const command = commandLine(given.DATA_DIR, given);
      expect(await command.refused("projections", "status")).toContain(
        `have never been beside the log ${logs.one}`,
      );
      expect(await documentsIn(databases.new)).toEqual([]);
      expect(await command.json("log", "adopt", logs.one ?? "")).toMatchObject({ adopted: true });
      expect((await command.json("projections", "status")).head).toEqual(expect.any(String));
    });

    it("is served beside its own again and again", async () => {
      await withBackend(environment("two", "two"), async (backend) => {
        await backend.prepare();
        await backend.prepare();
        expect(await backend.begun.required()).toMatchObject({ logId: logs.two });
      });
    });

    it("begins once, also when ten come first at once", async () => {
      const given = { ...environment("new", "new"), MONGODB_URL: servers.mongodb.newDatabase() };
      const ids = await Promise.all(
        Array.from({ length: 10 }, () =>
          withBackend(given, async (backend) => {
            await backend.prepare();
            expect(await backend.eventStore.read("log")).toHaveLength(1);
            return (await backend.begun.required()).logId;
          }),
        ),
      );
      expect(new Set(ids).size).toBe(1);
    });
  }),
);
