// Commands that only read, on a folder that they must not change, or can't: a copy, one on a read-only medium, a live one.
import { execFile, spawnSync } from "node:child_process";
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const NOBODY = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
const hasNobody = spawnSync("setpriv", [...NOBODY, process.execPath, "--version"]).status === 0;

describe("a command that only reads", () => {
  let service: TestService;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const at = (name: string) => join(folder.path, name);
  const copyOf = async (name: string) => {
    // Not in this process, where closing the files would drop the service's locks on them.
    await promisify(execFile)("cp", ["-a", service.config.dataDir, at(name)]);
    return at(name);
  };

  beforeAll(async () => {
    [service, folder] = await Promise.all([startTestService(), temporaryFolder()]);
    const member = await service.member("developer");
    const made = await service.post("/api/v1/shorten", member.key, { url: "https://example.com/" });
    expect((await service.ask(`/${made.body.slug}`)).status).toBe(301);
    type Counted = { analytics: { totalClicks: number } };
    const counted = () => service.ask<Counted>(`/api/v1/analytics/${made.body.slug}`, { key: member.key });
    await until("the click to be counted", async () => (await counted()).body.analytics?.totalClicks === 1);
    await commandLine(service.config.dataDir).json("audit", "seal");
    await copyOf("crashed");
  });
  afterAll(async () => {
    await service.stop().catch(() => undefined);
    await folder.remove();
  });

  /** Names, sizes, times and contents. */
  async function stateOf(path: string): Promise<unknown[]> {
    const names = (await readdir(path, { recursive: true })).sort();
    const entry = async (name: string) => {
      const { size, mtimeMs, mode } = await stat(join(path, name));
      const content = await readFile(join(path, name), "base64").catch(() => "");
      return [name, size, mtimeMs, mode, content];
    };
    return await Promise.all(names.map(entry));
  }

  it.each(["crashed", "ended"])(
    "changes nothing in the copy of the folder of a service that has %s",
    async (name) => {
      if (name === "ended") {
        const { dataDir } = service.config;
        await commandLine(dataDir).json("backup", at("ended"));
      }
      const before = await stateOf(at(name));
      const { json } = commandLine(at(name));
      expect((await json("projections", "status")).head).toEqual(expect.any(String));
      // A backup has no documents.
      if (name === "crashed") expect(await json("projections", "verify")).toMatchObject({ ok: true });
      expect(await json("audit", "verify")).toMatchObject({ ok: true, verdict: "proved" });
      expect(await stateOf(at(name))).toEqual(before);
    },
  );

  it("sees what a running service has just written", async () => {
    const { json } = commandLine(service.config.dataDir);
    for (let n = 2; n < 5; n++) {
      await service.member("free");
      expect((await json("account", "list")).accounts).toHaveLength(n);
    }
    expect(await json("audit", "verify")).toMatchObject({ ok: true });
  });

  it.skipIf(!hasNobody)("needs no right to write the folder", async () => {
    await chmod(folder.path, 0o755);
    for (const [name, ...command] of [
      ["crashed", "projections", "status"],
      ["ended", "audit", "verify"],
    ] as const) {
      const path = at(name);
      for (const entry of ["", ...(await readdir(path, { recursive: true }))]) {
        const { mode } = await stat(join(path, entry));
        await chmod(join(path, entry), mode & 0o100 ? 0o755 : 0o644);
      }
      const args = [...NOBODY, process.execPath, "src/cli.ts", ...command, "--json"];
      const env = childEnvironment({ DATA_DIR: path });
      const told = await new Promise<string>((resolve) => {
        execFile("setpriv", args, { env }, (error, _, stderr) => resolve(error ? stderr : ""));
      });
      expect([name, command, told]).toEqual([name, command, ""]);
    }
  });
});
