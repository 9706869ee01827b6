// The secrets contract on SQLite, and that destroyed secrets leave no bytes in its files.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { encryptedSecrets } from "../../src/stores/secrets/encrypted-secrets.ts";
import { keyringOf } from "../../src/stores/secrets/keyring.ts";
import { openSqliteSecrets, remoteSecrets } from "../../src/stores/secrets/sqlite/secret-store.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { inThreads } from "../support/service/store-threads.ts";
import { secretStoreContract } from "./secret-store.ts";
import { secretsContract } from "./secrets.ts";

const keyring = keyringOf("a".repeat(32));

const open = async (inCallersThread: boolean) => {
  const folder = await temporaryFolder();
  const openSecrets = async () =>
    inCallersThread
      ? encryptedSecrets(await openSqliteSecrets(join(folder.path, "secrets.db")), keyring)
      : inThreads(folder.path, ({ writer }) => encryptedSecrets(remoteSecrets(writer), keyring));
  const secrets = await openSecrets();
  return {
    secrets,
    openAnother: openSecrets,
    close: async () => {
      await secrets.close();
      await folder.remove();
    },
  };
};

secretsContract("SQLite in the caller's thread", () => open(true));
secretsContract("SQLite in the writer thread", () => open(false));

secretStoreContract("SQLite", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteSecrets(join(folder.path, "secrets.db"));
  const close = async () => {
    await store.close();
    await folder.remove();
  };
  return { store, close };
});

describe("SQLite secrets", () => {
  it("leave no byte of a swept, a removed or a replaced value in any file", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const secrets = await openSqliteSecrets(join(folder.path, "secrets.db"));
    onTestFinished(() => secrets.close());
    const salts = { swept: "5a17".repeat(16), removed: "d3a1".repeat(16), replaced: "0ff5".repeat(16) };
    const [swept, removed, replaced] = [
      { name: "swept", value: salts.swept, expiresAt: "2026-03-01T00:00:00.000Z" },
      { name: "removed", value: salts.removed },
      { name: "replaced", value: salts.replaced },
    ];
    for (const salt of [swept, removed, replaced]) await secrets.swap(undefined, salt);
    expect(await bytesIn(folder.path)).toContain(salts.swept);
    await secrets.swap(replaced, { name: "replaced", value: "another" });
    await secrets.remove("removed");
    await secrets.sweep(new Date("2026-03-01T00:00:00.000Z"));
    const remaining = await bytesIn(folder.path);
    for (const salt of Object.values(salts)) expect(remaining).not.toContain(salt);
  });

  it("are readable by their owner only", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const secrets = await openSqliteSecrets(join(folder.path, "secrets.db"));
    onTestFinished(() => secrets.close());
    await secrets.swap(undefined, { name: "key", value: "1" });
    for (const name of await readdir(folder.path))
      expect((await stat(join(folder.path, name))).mode & 0o077).toBe(0);
  });
});

async function bytesIn(folder: string): Promise<string> {
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  return Buffer.concat(files).toString("latin1");
}
