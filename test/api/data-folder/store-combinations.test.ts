// A shared event store or MongoDB refuses a second data folder whose embedded files would not belong to it.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BadConfig, parseConfig } from "../../../src/config.ts";
import { ALL_ROLES, type Roles, rolesFrom } from "../../../src/roles/role.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { openService, type Service } from "../../../src/service.ts";
import {
  type EventStoreDbDouble,
  startDouble,
} from "../../support/event-store/eventstoredb-double/double.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { mongodb, startMongodb, type TestMongodb } from "../../support/servers/mongodb-server.ts";
import { onServer } from "../../support/servers/test-servers.ts";
import { commandProcess } from "../../support/service/command-line.ts";
import { BASE_URL } from "../../support/service/start-service.ts";

const SECRET_KEY = "the same for every process of this test";
const API = rolesFrom("api");

let folder: TemporaryFolder;
let folders = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function newFolder(): string {
  folders += 1;
  return join(folder.path, String(folders));
}

type Stores = Record<string, string>;

async function start(dataDir: string, stores: Stores, roles: Roles = API): Promise<Service> {
  const config = parseConfig({ PORT: "0", BASE_URL, DATA_DIR: dataDir, SECRET_KEY, ...stores });
  return await openService(config, createLogger("silent"), { roles });
}

/** Why the start was refused; undefined when it was not. */
async function refusal(dataDir: string, stores: Stores, roles: Roles = API): Promise<string | undefined> {
  try {
    await (await start(dataDir, stores, roles)).stop();
    return undefined;
  } catch (error) {
    if (error instanceof BadConfig) return error.message;
    throw error;
  }
}

describe("EVENTSTORE_URL without MONGODB_URL", { timeout: 120_000 }, () => {
  let double: EventStoreDbDouble;
  let stores: Stores;
  let first: string;
  beforeAll(async () => {
    double = await startDouble();
    stores = { EVENTSTORE_URL: double.connectionString };
    first = newFolder();
    await (await start(first, stores)).stop();
  }, 120_000);
  afterAll(() => double.close());

  it("takes its data folder again, also in several processes with a part of the roles each", async () => {
    const parts = await Promise.all(["api", "portal"].map((role) => start(first, stores, rolesFrom(role))));
    for (const part of parts) await part.stop();
  });

  it.each([
    ["all roles", ALL_ROLES],
    ["a part of them", API],
  ])("refuses a second data folder in one line, for a process with %s", async (_what, roles) => {
    const reason = await refusal(newFolder(), stores, roles);
    expect(reason).toMatch(/^EVENTSTORE_URL: [^\n]+ set MONGODB_URL too$/);
  });

  it("lets exactly one of two folders win that are started at the same time on a new log", async () => {
    const other = { ...stores, EVENTSTORE_PREFIX: "other_" };
    const reasons = await Promise.all([refusal(newFolder(), other), refusal(newFolder(), other)]);
    expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1);
  });

  it("refuses the second folder to the command line too, and ends a server that could not ask before", async () => {
    const instance = { ...stores, SECRET_KEY, BASE_URL, PORT: String(await freePort()), LOG_LEVEL: "warn" };
    const { linkledger, refused } = commandProcess(newFolder(), instance);
    expect(await refused("account", "create", "--email", "split@example.com")).toMatch(
      /^error: EVENTSTORE_URL: [^\n]+ set MONGODB_URL too\n$/,
    );
    await double.wire.close();
    const serving = linkledger(["serve", "--roles", "api"]);
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${instance.PORT}/health/live`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    await double.wire.open();
    const { code, stdout } = await serving;
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/EVENTSTORE_URL: it is used with another data folder/);
  });
});

onServer(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  it("refuses MONGODB_URL without EVENTSTORE_URL to a second data folder, and takes the first again", async () => {
    const stores = { MONGODB_URL: server.newDatabase() };
    const first = newFolder();
    expect(await refusal(first, stores)).toBeUndefined();
    expect(await refusal(newFolder(), stores)).toMatch(/^MONGODB_URL: [^\n]+ set EVENTSTORE_URL too$/);
    expect(await refusal(first, stores)).toBeUndefined();
  });

  it("takes any number of data folders when both are shared", async () => {
    const double = await startDouble();
    const stores = { EVENTSTORE_URL: double.connectionString, MONGODB_URL: server.newDatabase() };
    for (let n = 0; n < 2; n++) expect(await refusal(newFolder(), stores)).toBeUndefined();
    await double.close();
  });
});
