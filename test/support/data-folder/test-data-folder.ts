// A data folder for each test of a describe block, with the service and the command line on it.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../runtime/temporary-folder.ts";
import { commandLine } from "../service/command-line.ts";
import { startTestService } from "../service/start-service.ts";

type Environment = Record<string, string>;

/** Call it inside a describe block: registers its hooks there. `environment`: of every service that is started. */
export function testDataFolder(environment: Environment = {}) {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const dataDir = () => join(folder.path, "data");
  const cli = (more: Environment = {}, place = dataDir()) => commandLine(place, more);
  return {
    dataDir,
    cli,
    start: (more: Environment = {}) => startTestService({ DATA_DIR: dataDir(), ...environment, ...more }),
    /** Runs `linkledger backup` and returns the folder of the copies. */
    async backUp(): Promise<string> {
      const backup = join(folder.path, "backup");
      await cli().json("backup", backup);
      return backup;
    },
  };
}

/** The content of every file below the folder, one character per byte. Files that disappear meanwhile are empty. */
export async function bytesIn(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1").catch(() => ""));
  return (await Promise.all(texts)).join("\n");
}
