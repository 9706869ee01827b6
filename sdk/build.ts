// Builds dist/: types from the OpenAPI document of a service that runs for the moment, then JavaScript and declarations.
// The types are not kept in the repository, so that they can't be others than the service's.
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseConfig } from "../src/config/config.ts";
import { createLogger } from "../src/runtime/logging.ts";
import { openService } from "../src/service/service.ts";

const here = import.meta.dirname;
const run = promisify(execFile);
const program = (name: string) => join(here, "node_modules/.bin", name);

const folder = await mkdtemp(join(tmpdir(), "linkledger-client-"));
try {
  const config = parseConfig({ PORT: "0", BASE_URL: "http://localhost", DATA_DIR: join(folder, "data") });
  const service = await openService(config, createLogger("silent"));
  const document = await fetch(`${service.url}/openapi.json`);
  await writeFile(join(folder, "openapi.json"), await document.text());
  await service.stop();
  const types = join(here, "src/api.ts");
  await run(program("openapi-typescript"), [join(folder, "openapi.json"), "-o", types]);
  await copyFile(join(here, "../LICENSE"), join(here, "LICENSE"));
  await rm(join(here, "dist"), { recursive: true, force: true });
  await run(program("tsc"), ["-p", here]).catch(({ stdout }: { stdout: string }) => {
    process.stderr.write(stdout);
    process.exitCode = 1;
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
