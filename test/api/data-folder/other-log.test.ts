// Files of two services in one data folder: what is kept beside a log belongs to it, and to no other.
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { refuseOtherLog } from "../../../src/service/stores/same-log.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService } from "../../support/service/start-service.ts";

const SECRET_KEY = "a secret key of two services whose files are mixed";
const BESIDE = { secrets: "secrets.db", documents: "read.db", deliveries: "deliveries.db" } as const;
const OWN_ACCOUNT = { accounts: [{ email: "member-1@example.com", tier: "developer" }] };
type Beside = keyof typeof BESIDE;

describe("a log and what is kept beside it in the data folder", () => {
  let folder: TemporaryFolder;
  const logs = new Map<string, string>();
  const dataDir = (name: string) => join(folder.path, name);
  const command = (name: string) => commandLine(dataDir(name), { SECRET_KEY });

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const name of ["own", "foreign"]) {
      const service = await startTestService({ DATA_DIR: dataDir(name), SECRET_KEY });
      await service.member("developer");
      const { deliveryQueue, begun } = service.backend;
      const routed = async () => (await deliveryQueue.routed())?.logId !== undefined;
      await until(() => "the router to note its place", routed);
      logs.set(name, (await begun.required()).logId);
      await service.stop();
    }
  });
  afterAll(() => folder.remove());

  /** A copy of the service's folder with these of the other one's files. */
  const mixed = async (...foreign: Beside[]) => {
    const name = `mixed-${foreign.join("-")}`;
    await rm(dataDir(name), { recursive: true, force: true });
    await cp(dataDir("own"), dataDir(name), { recursive: true });
    for (const what of foreign)
      await cp(join(dataDir("foreign"), BESIDE[what]), join(dataDir(name), BESIDE[what]));
    return name;
  };
  const rowsOf = (name: string) =>
    ["events.db", ...Object.values(BESIDE)].map((file) => {
      const db = new DatabaseSync(join(dataDir(name), file), { readOnly: true });
      const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
      const rows = tables.map(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all());
      db.close();
      return rows;
    });

  const all = Object.keys(BESIDE) as Beside[];
  const sets = [1, 2, 3, 4, 5, 6, 7].map((bits) => all.filter((_, n) => bits & (1 << n)));
  it.each(sets.map((set) => [set.join(" and "), set] as const))(
    "is refused beside %s of another one at the start and by commands, which change nothing",
    async (_, set) => {
      const name = await mixed(...set);
      const before = rowsOf(name);
      const message = expect.stringMatching(
        new RegExp(
          `The (${set.join("|")}) in \\S+ of \\S+ belong to the log ${logs.get("foreign")}, but .+ is ${logs.get("own")}: are files of two services in one DATA_DIR\\?.+linkledger log adopt ${logs.get("own")}`,
        ),
      );
      await expect(startTestService({ DATA_DIR: dataDir(name), SECRET_KEY })).rejects.toMatchObject({
        message,
      });
      for (const words of [
        ["projections", "status"],
        ["projections", "rebuild"],
        ["secrets", "rotate"],
      ])
        expect(await command(name).refused(...words)).toEqual(message);
      expect(rowsOf(name)).toEqual(before);
    },
  );

  it("is served beside its own, also without documents and deliveries", async () => {
    const name = await mixed();
    for (const what of ["documents", "deliveries"] as const) await rm(join(dataDir(name), BESIDE[what]));
    const service = await startTestService({ DATA_DIR: dataDir(name), SECRET_KEY });
    expect(await command(name).json("account", "list")).toMatchObject(OWN_ACCOUNT);
    await service.stop();
  });

  it("is refused beside secrets that have never seen it, once it has accounts", async () => {
    const name = await mixed();
    await rm(join(dataDir(name), BESIDE.secrets));
    const refusal = await command(name).refused("secrets", "rotate");
    expect(refusal).toContain(`have never been beside the log ${logs.get("own")}, which has accounts`);
  });

  it("goes with what it is meant to go with, by `log adopt`", async () => {
    const name = await mixed("documents", "deliveries");
    const own = logs.get("own") ?? "";
    expect(await command(name).refused("log", "adopt", logs.get("foreign") ?? "")).toContain(
      `is ${own}, not`,
    );
    expect(await command(name).json("log", "adopt", own)).toEqual({ log_id: own, adopted: true });
    const service = await startTestService({ DATA_DIR: dataDir(name), SECRET_KEY });
    expect(await command(name).json("account", "list")).toMatchObject(OWN_ACCOUNT);
    await service.stop();
  });

  it("begins once, also when ten come first at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 10 }, () => openBackend({ dataDir: dataDir("new"), secretKey: SECRET_KEY })),
    );
    const ids = await Promise.all(all.map(async ({ begun }) => (await begun.required()).logId));
    expect(new Set(ids).size).toBe(1);
    expect(await all[0]?.eventStore.read("log")).toMatchObject([
      { type: "LogBegun", data: { logId: ids[0] } },
    ]);
    expect(await all[0]?.secrets.get("log", runtimeDeps.clock())).toBe(ids[0]);
    for (const backend of all) await backend.close();
  });

  it("is no other one where it begins, and is noted, while somebody else looks", async () => {
    const config = { dataDir: dataDir("begins"), secretKey: SECRET_KEY };
    const { begun, eventStore, secrets, foldStore, deliveryQueue, close } = await openBackend(config);
    let isThere = false;
    const here = {
      eventStore,
      deliveryQueue: async () => deliveryQueue,
      foldStore: {
        checkpoint: async (name: string) => (isThere ? await foldStore.checkpoint(name) : undefined),
        write: foldStore.write,
      },
      secrets: {
        get: async (id: string, now: Date) => (isThere ? await secrets.get(id, now) : undefined),
        put: secrets.put,
        putIfAbsent: secrets.putIfAbsent,
      },
      begun: {
        ...begun,
        beginning: async () => {
          const seen = isThere ? await begun.beginning() : undefined;
          isThere = true;
          return seen;
        },
      },
    };
    await refuseOtherLog(here, config);
    await refuseOtherLog(here, config);
    await close();
  });
});
