// Compiled code is kept between starts, and nothing depends on it.
import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { copyProgram } from "../../support/service/program-copy.ts";
import { instanceOf, startService } from "../../support/service/service-process.ts";

/** Instead of the tests' own cache: the one that the program chooses. */
const CHOSEN = { NODE_COMPILE_CACHE: "" };

describe("the compile cache", () => {
  let folder: TemporaryFolder;
  let program: string;
  let cache: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    program = join(folder.path, "program");
    cache = join(program, "node_modules", ".cache");
    await copyProgram(program);
  });
  afterEach(() => folder.remove());

  it("lies under node_modules and keeps what a command has loaded", async () => {
    const { code } = await commandLine(join(folder.path, "data"), CHOSEN, program).linkledger([
      "account",
      "list",
    ]);
    expect(code).toBe(0);
    const kept = await readdir(cache, { recursive: true });
    expect(kept.length).toBeGreaterThan(100);
  });

  it("is used by worker threads too", async () => {
    const ofThread = `
      import { Worker } from "node:worker_threads";
      import { keepCompiledCode } from "./src/runtime/compile-cache.ts";
      keepCompiledCode();
      new Worker('console.log(process.getBuiltinModule("node:module").getCompileCacheDir())', { eval: true });`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", ofThread], {
      cwd: program,
      env: childEnvironment(CHOSEN),
    });
    expect(stdout).toContain(cache);
  });

  it("is no condition: where its folder can't be made, commands and the service run without", async () => {
    await writeFile(cache, "a file, so that no folder can be made here");
    const dataDir = join(folder.path, "data");
    const outcome = await commandLine(dataDir, CHOSEN, program).linkledger(["account", "list", "--json"]);
    expect(outcome).toEqual({ code: 0, stdout: '{"accounts":[]}\n', stderr: "" });
    const service = await startService(await instanceOf(dataDir, CHOSEN), [], program);
    const { status } = await fetch(`${service.url}/health/ready`);
    await service.stop();
    expect(status).toBe(200);
  });
});
