// An instance that the tests of a suite start and end services on, one after the other.
import { afterAll, beforeAll } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../runtime/temporary-folder.ts";
import { type Environment, instanceOf } from "./service-process.ts";

/** Registers the hooks that fill it, with a DATA_DIR of its own, and remove the folder. `more`: further settings. */
export function instanceOfSuite(more: Environment = {}): Environment {
  const instance: Environment = {};
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
    Object.assign(instance, await instanceOf(folder.path, more));
  });
  afterAll(() => folder.remove());
  return instance;
}
