// The compile cache: compiled code is reused at the next start, and nothing depends on it.
import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { copyProgram } from "../../support/service/program-copy.ts";
import { instanceOf, startService } from "../../support/service/service-process.ts";

/** Unset, so that the program chooses its cache instead of the tests' one. */
const CHOSEN = { NODE_COMPILE_CACHE: "" };

describe("the compile cache", () => {
  let folder: TemporaryFolder;
  let program: string;
  let dataDir: string;
  let cache: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    program = join(folder.path, "program");
    dataDir = join(folder.path, "data");
    cache = join(program, "node_modules", ".cache");
    await copyProgram(program);
  });
  afterEach(() => folder.remove());

  async function run(file: string, ...args: string[]) {
    const env = childEnvironment({ ...CHOSEN, DATA_DIR: dataDir });
    return await promisify(execFile)(file, args, { cwd: program, env });
  }

  it("lies under node_modules and keeps what a command has loaded", async () => {
    await run("bin/linkledger", "account", "create", "--email", "a@b.c");
    const kept = await readdir(cache, { recursive: true });
    expect(kept.length).toBeGreaterThan(100);
  });

  it("is used by worker threads too", async () => {
    const ofThread = `process.stdout.write(process.getBuiltinModule("node:module").getCompileCacheDir() ?? "none")`;
    const file = join(folder.path, "starts-a-thread.mjs");
    await writeFile(
      file,
      `new (await import("node:worker_threads")).Worker(${JSON.stringify(ofThread)}, { eval: true });`,
    );
    const { stdout } = await run(process.execPath, "--import=./src/runtime/compile-cache.js", file);
    expect(stdout).toContain(cache);
  });

  it("is no condition: where its folder can't be made, commands and the service run without", async () => {
    await writeFile(cache, "a file, so that no folder can be made here");
    const { stdout, stderr } = await run("bin/linkledger", "account", "create", "--email", "a@b.c", "--json");
    expect([JSON.parse(stdout), stderr]).toEqual([expect.objectContaining({ email: "a@b.c" }), ""]);
    const service = await startService(await instanceOf(dataDir, CHOSEN), [], program);
    const { status } = await fetch(`${service.url}/health/ready`);
    await service.stop();
    expect(status).toBe(200);
  });
});
