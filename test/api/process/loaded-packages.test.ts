// A process loads the packages that its roles and stores need, and not before they are needed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { packageReport } from "../../support/service/loaded-packages.ts";
import {
  type Environment,
  instanceOf,
  runCommand,
  startService,
} from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const DRIVERS = ["mongodb", "ioredis", "@eventstore/db-client"];
/** Of requests that nobody has made, and of mail that is not configured. */
const ON_DEMAND = ["undici", "qrcode", "nodemailer"];
const OF_HTTP = ["fastify", "prom-client"];
const OF_PORTAL_AND_API = ["@fastify/swagger-ui", "@fastify/formbody", "@node-rs/argon2", "tldts"];

describe("what a process loads", () => {
  let folder: TemporaryFolder;
  let instance: Environment;
  beforeEach(async () => {
    folder = await temporaryFolder();
    const { environment } = packageReport(folder.path);
    instance = await instanceOf(join(folder.path, "data"), environment);
  });
  afterEach(() => folder.remove());

  const packages = () => packageReport(folder.path).packages();

  it("for a command on embedded stores is no driver of a server, no HTTP and no second thread", async () => {
    await runCommand(instance, "account", "create", "--email", "a@b.c");
    const loaded = await packages();
    expect([...loaded.keys()]).toEqual(["main"]);
    expect(loaded.get("main")).toContain("commander");
    const unneeded = [...DRIVERS, ...ON_DEMAND, ...OF_HTTP, ...OF_PORTAL_AND_API];
    expect(intersection(loaded.get("main"), unneeded)).toEqual([]);
  });

  it("for all roles on embedded stores is no driver of a server in any thread", async () => {
    const service = await startService(instance);
    await service.stop();
    const loaded = await packages();
    expect([...loaded.keys()]).toEqual(expect.arrayContaining(["main", "recorder", "projector", "webhooks"]));
    expect(loaded.get("main")).toEqual(expect.arrayContaining([...OF_HTTP, ...OF_PORTAL_AND_API]));
    expect(intersection([...loaded.values()].flat(), [...DRIVERS, ...ON_DEMAND])).toEqual([]);
    const readingGeo = [...loaded].filter(([, names]) => names.includes("mmdb-lib"));
    expect(readingGeo.map(([thread]) => thread)).toEqual(["recorder"]);
  });

  it("for redirects alone is neither API nor portal, and no thread of other roles", async () => {
    const child = await redirectsOnly();
    child.kill("SIGTERM");
    await once(child, "exit");
    const loaded = await packages();
    expect([...loaded.keys()].sort()).toEqual(["event-store", "main", "recorder"]);
    expect(intersection(loaded.get("main"), [...DRIVERS, ...ON_DEMAND, ...OF_PORTAL_AND_API])).toEqual([]);
  });

  async function redirectsOnly(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ["src/cli.ts", "serve", "--roles", "redirect"], {
      cwd: root,
      env: childEnvironment(instance),
      stdio: "ignore",
    });
    const isReady = async () =>
      (await fetch(`http://127.0.0.1:${instance.PORT}/health/ready`)).status === 200;
    await expect.poll(() => isReady().catch(() => false), { timeout: 60_000 }).toBe(true);
    return child;
  }
});

function intersection(some: readonly string[] = [], others: readonly string[]): string[] {
  return [...new Set(some.filter((name) => others.includes(name)))];
}
