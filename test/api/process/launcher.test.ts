// The ways in as people type them: `npm start` and its end by a signal, and `bin/linkledger` of a checkout.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../../src/config/version.ts";
import { effort } from "../../support/runtime/effort.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { endWithThisProcess } from "../../support/service/end-with-this-process.ts";
import { type Environment, instanceOf } from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let folder: TemporaryFolder;
let instance: Environment;
beforeAll(async () => {
  folder = await temporaryFolder();
  instance = {
    ...(await instanceOf(join(folder.path, "data"), { LOG_LEVEL: "info" })),
    // Nobody listens there: what asks a registry fails.
    ...{ npm_config_registry: "http://127.0.0.1:1", npm_config_cache: join(folder.path, "cache") },
  };
});
afterAll(() => folder.remove());

describe("npm start", { timeout: 120_000 }, () => {
  const signals = [
    { name: "SIGTERM to npm, as by `kill $!`", signal: "SIGTERM", toGroup: false },
    { name: "SIGINT to npm", signal: "SIGINT", toGroup: false },
    { name: "Ctrl-C, which npm gets, and the service twice", signal: "SIGINT", toGroup: true },
  ] as const;

  it.each(signals.slice(-effort(1, 3)))(
    "stops in order and leaves nothing running after $name",
    async ({ signal, toGroup }) => {
      const npm = spawn("npm", ["start"], { cwd: root, env: childEnvironment(instance), detached: true });
      endWithThisProcess(npm);
      let printed = "";
      npm.stdout.on("data", (chunk) => (printed += chunk));
      await until("the service to listen", async () => printed.includes("listens on"));
      const ended = once(npm, "close");
      process.kill(toGroup ? -groupOf(npm) : groupOf(npm), signal);
      await ended;
      expect(printed).toContain('"stopped"');
      expect(() => process.kill(-groupOf(npm), 0)).toThrow("ESRCH");
      await expect(fetch(`http://127.0.0.1:${instance.PORT}/health/live`)).rejects.toThrow();
    },
  );
});

describe("bin/linkledger", () => {
  const linkledger = (checkout: string, ...args: string[]) =>
    promisify(execFile)(join(checkout, "bin/linkledger"), args, {
      cwd: "/",
      env: childEnvironment(instance),
    });

  it("runs the command line of the checkout, from any folder", async () => {
    expect((await linkledger(root, "--version")).stdout).toBe(`${VERSION}\n`);
  });

  it("says what to do in a checkout where nothing is installed", async () => {
    const checkout = join(folder.path, "checkout");
    for (const part of ["bin", "package.json"])
      await cp(join(root, part), join(checkout, part), { recursive: true });
    await expect(linkledger(checkout, "account", "list")).rejects.toMatchObject({
      code: 1,
      stderr: `error: nothing is installed yet; run this first: npm ci --omit=dev --prefix ${checkout}\n`,
    });
  });
});

/** A detached process leads a group with its own id. */
function groupOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error("npm has not started");
  return pid;
}
