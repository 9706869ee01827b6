// The service process: starting, stopping, refusing to start.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { type Environment, instanceOf, startService } from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

describe("the process", () => {
  let folder: TemporaryFolder;
  let instance: Environment;
  beforeEach(async () => {
    folder = await temporaryFolder();
    instance = await instanceOf(join(folder.path, "data"));
  });
  afterEach(() => folder.remove());

  const attempt = (environment: Environment, ...args: string[]) =>
    run(environment, "src/cli.ts", "serve", ...args);

  /** Until the process exits. */
  async function run(environment: Environment, ...args: string[]) {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: childEnvironment(environment),
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const [code] = await once(child, "close");
    return { code, stdout, stderr };
  }

  it("answers bad configuration with one clear line on stderr and exit 1", async () => {
    const { code, stdout, stderr } = await attempt({ ...instance, PORT: "http" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe('linkledger: PORT must be a whole number from 0 to 65535, not "http"\n');
  });

  it("answers a data folder that is a link to nowhere, such as a disk that isn't mounted, likewise", async () => {
    const link = join(folder.path, "data");
    await symlink(join(folder.path, "not-mounted"), link);
    const { code, stderr } = await attempt({ ...instance, DATA_DIR: link });
    const message = `DATA_DIR: ${link} can't be used: it leads to a folder that isn't there`;
    expect([code, stderr]).toEqual([1, `linkledger: ${message}\n`]);
  });

  it("answers a GEOIP_DB that isn't there, or isn't a MaxMind database, likewise", async () => {
    const missing = join(folder.path, "missing.mmdb");
    const other = join(folder.path, "other.mmdb");
    await writeFile(other, "not a database");
    for (const GEOIP_DB of [missing, other]) {
      const { code, stdout, stderr } = await attempt({ ...instance, GEOIP_DB });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^linkledger: GEOIP_DB: \S+ can't be read as a MaxMind database \([^\n]+\)\n$/);
      expect(stderr).toContain(GEOIP_DB);
    }
  });

  it("answers a port in use likewise, and leaves nothing running", async () => {
    const running = await startService(instance);
    const other = { ...instance, DATA_DIR: join(folder.path, "other"), LOG_LEVEL: "error" };
    const { code, stderr } = await attempt(other);
    const workers = await attempt(other, "--workers", "2");
    await running.stop();
    expect([code, workers.code]).toEqual([1, 1]);
    expect(workers.stdout).not.toContain("starting it again");
    expect(workers.stderr).toContain(stderr);
    expect(stderr).toMatch(/^linkledger: PORT: \d+ on 127\.0\.0\.1 is in use by another program\n$/);
  });

  it("prints its address and how to create an account at the first start, and stops gracefully on SIGTERM", async () => {
    const child = spawn(process.execPath, ["src/cli.ts", "serve"], {
      cwd: root,
      env: childEnvironment({ ...instance, LOG_LEVEL: "info", SIGNUP: "closed" }),
    });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes("account create") && !child.killed) child.kill("SIGTERM");
    });
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(printed).toContain(instance.BASE_URL);
    expect(printed).toContain("account create --email");
    expect(printed).toContain("SIGNUP is no setting and has no effect: is SIGN_UP meant?");
    expect(printed).toContain('"stopped"');
    expect((await stat(join(folder.path, "data", "secret.key"))).mode & 0o777).toBe(0o600);
  });
});
