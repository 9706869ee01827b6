// File modes: other users of the machine can read nothing that the real programs write.
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { send } from "../../support/service/ask.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  runCommand,
  startService,
} from "../../support/service/service-process.ts";

describe("the modes of files", () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let instance: Environment;
  beforeEach(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, "data");
    instance = await instanceOf(dataDir);
  });
  afterEach(() => folder.remove());

  it("let only their owner at the data folder of a running service and at its backups", async () => {
    const service = await startService(instance);
    try {
      await useOnce();
      const [fresh, existing] = [join(folder.path, "fresh"), join(folder.path, "existing")];
      await mkdir(existing, { mode: 0o755 });
      for (const backup of [fresh, existing]) await runCommand(instance, "backup", backup);
      expect(await openToOthers(dataDir)).toEqual([]);
      expect(await openToOthers(fresh)).toEqual([]);
      expect(await openToOthers(existing)).toEqual([]);
    } finally {
      await service.stop();
    }
    expect(await openToOthers(dataDir)).toEqual([]);
  });

  it("are tightened in a folder that was copied for everybody to read, and those of others' files left alone", async () => {
    await runCommand(instance, "account", "create", "--email", "early@example.com");
    await mkdir(join(dataDir, "click-spool"));
    await writeFile(join(dataDir, "click-spool", "00.spool"), "");
    await writeFile(join(dataDir, "notes.txt"), "the operator's own");
    await openAll(dataDir);
    expect(await openToOthers(dataDir)).toContain(join(dataDir, "secrets.db"));
    await runCommand(instance, "account", "create", "--email", "late@example.com");
    expect(await openToOthers(dataDir)).toEqual([join(dataDir, "notes.txt")]);
  });

  async function useOnce() {
    const { keys } = await accountWithKeys(instance, "developer", 1);
    const port = Number(instance.PORT);
    const headers = { "idempotency-key": "one" };
    const ask = { method: "POST", headers, body: { url: "https://example.com/" }, key: keys[0] ?? "" };
    const made = await send<{ slug: string }>(port, "/api/v1/shorten", ask);
    expect(made.status).toBe(201);
    expect((await send(port, `/${made.body.slug}`, {})).status).toBe(301);
  }
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
