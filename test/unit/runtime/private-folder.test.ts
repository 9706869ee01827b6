// Folders that can be made are there, and of others the error says why.
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../../src/runtime/private-folder.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

it("makes a folder with those above it, and ends where it can't be made", async () => {
  const folder = await temporaryFolder();
  const deep = join(folder.path, "a", "b");
  makeFolder(deep, 0o700);
  makeFolder(deep);
  expect((await stat(deep)).mode & 0o777).toBe(0o700);
  const file = join(folder.path, "file");
  await writeFile(file, "");
  expect(() => makeFolder(file)).toThrow("EEXIST");
  expect(() => makeFolder(join(file, "a"))).toThrow("ENOTDIR");
  if (process.platform === "linux") expect(() => makeFolder("/proc/linkledger/data")).toThrow("ENOENT");
  await folder.remove();
});
