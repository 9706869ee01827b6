// Each thread and command loads the one client that the scheme of EVENTSTORE_URL chooses: two would break each other.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type EventStoreDbDouble,
  type Scheme,
  startDouble,
} from "../../support/event-store/eventstoredb-double/double.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { packageReport } from "../../support/service/loaded-packages.ts";
import { type Environment, instanceOf, startService } from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const WITHOUT_NATIVE = `--import ${join(root, "test/support/service/without-native-libraries.mjs")}`;
const CLIENTS: [Scheme, string][] = [
  ["esdb", "@eventstore/db-client"],
  ["kurrentdb", "@kurrent/kurrentdb-client"],
];

describe.each(CLIENTS)("with %s:// as EVENTSTORE_URL", (scheme, client) => {
  let folder: TemporaryFolder;
  let double: EventStoreDbDouble;
  let instance: Environment;
  beforeEach(async () => {
    [folder, double] = await Promise.all([temporaryFolder(), startDouble()]);
    instance = await instanceOf(join(folder.path, "data"), {
      EVENTSTORE_URL: double.url(scheme),
      SECRET_KEY: "a secret key for all processes of one test",
      ...packageReport(folder.path).environment,
    });
  });
  afterEach(async () => {
    await double.close();
    await folder.remove();
  });

  /** How many threads have loaded a client, and which clients. */
  async function loaded() {
    const known = CLIENTS.map(([, name]) => name);
    const packages = [...(await packageReport(folder.path).packages()).values()];
    const clients = packages.map((names) => names.filter((name) => known.includes(name)));
    return {
      threads: clients.filter((names) => names.length > 0).length,
      clients: [...new Set(clients.flat())],
    };
  }

  it(`loads ${client} alone, in every thread of a service`, async () => {
    const service = await startService(instance);
    try {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      const info = /^linkledger_event_store_info\{client="(\S+) [\d.]+",server="26\.0\.0"\} 1$/m.exec(
        metrics,
      );
      expect(info?.[1]).toBe(client);
      // HTTP, clicks, projections and webhooks.
      await expect.poll(async () => (await loaded()).threads).toBeGreaterThanOrEqual(4);
    } finally {
      await service.stop();
    }
    expect((await loaded()).clients).toEqual([client]);
  });

  const createAccount = async (environment: Environment) => {
    const create = ["account", "create", "--email", "someone@example.com", "--json"];
    const env = childEnvironment(environment);
    const run = promisify(execFile)(process.execPath, ["src/cli.ts", ...create], { cwd: root, env });
    return await run.catch((error: { stderr: string; stdout: string }) => error);
  };

  it(`loads ${client} alone in a command`, async () => {
    const { stdout } = await createAccount(instance);
    expect(JSON.parse(stdout)).toMatchObject({ tier: "free" });
    expect((await loaded()).clients).toEqual([client]);
  });

  const outcome = scheme === "esdb" ? "works" : "ends with one clear line";
  it(`${outcome} on a platform that the native library isn't made for`, async () => {
    const { stdout, stderr } = await createAccount({ ...instance, NODE_OPTIONS: WITHOUT_NATIVE });
    if (scheme === "esdb") expect(JSON.parse(stdout)).toMatchObject({ tier: "free" });
    else
      expect(stderr).toMatch(
        /^error: EVENTSTORE_URL: kurrentdb:\/\/ needs [^\n]+; esdb:\/\/ works without it\n$/,
      );
  });
});
