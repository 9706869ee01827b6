// File modes: other users of the machine can read nothing that the program writes.
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFilesPrivate } from "../../../src/runtime/private-folder.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService } from "../../support/service/start-service.ts";

describe("the modes of files", () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let json: ReturnType<typeof commandLine>["json"];
  let ownMask: number;
  beforeEach(async () => {
    ownMask = process.umask();
    makeFilesPrivate();
    folder = await temporaryFolder();
    dataDir = join(folder.path, "data");
    ({ json } = commandLine(dataDir));
  });
  afterEach(async () => {
    process.umask(ownMask);
    await folder.remove();
  });

  it("let only their owner at the data folder of a running service and at its backups", async () => {
    const service = await startTestService({ DATA_DIR: dataDir });
    try {
      const { key } = await service.member("developer");
      const headers = { "idempotency-key": "one" };
      const body = { url: "https://example.com/" };
      const made = await service.post<{ slug: string }>("/api/v1/shorten", key, body, { headers });
      expect((await service.ask(`/${made.body.slug}`)).status).toBe(301);
      const [fresh, existing] = [join(folder.path, "fresh"), join(folder.path, "existing")];
      await mkdir(existing, { mode: 0o755 });
      for (const backup of [fresh, existing]) await json("backup", backup);
      for (const place of [dataDir, fresh, existing]) expect(await openToOthers(place)).toEqual([]);
    } finally {
      await service.stop();
    }
    expect(await openToOthers(dataDir)).toEqual([]);
  });

  it("are tightened in a folder that was copied for everybody to read, and those of others' files left alone", async () => {
    await (await startTestService({ DATA_DIR: dataDir })).stop();
    await mkdir(join(dataDir, "click-journal"));
    await writeFile(join(dataDir, "click-journal", "00.journal"), "");
    await writeFile(join(dataDir, "notes.txt"), "the operator's own");
    await openAll(dataDir);
    expect(await openToOthers(dataDir)).toContain(join(dataDir, "secrets.db"));
    await json("secrets", "rotate");
    expect(await openToOthers(dataDir)).toEqual([join(dataDir, "notes.txt")]);
  });
});

/** What `find FOLDER -perm /077` finds. */
async function openToOthers(folder: string): Promise<string[]> {
  const inside = await readdir(folder, { recursive: true });
  const modes = [folder, ...inside.map((name) => join(folder, name))].map(async (path) => {
    const { mode } = await stat(path);
    return mode & 0o077 ? [path] : [];
  });
  return (await Promise.all(modes)).flat();
}

async function openAll(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    await chmod(path, (await stat(path)).isDirectory() ? 0o755 : 0o644);
  }
  await chmod(folder, 0o755);
}
