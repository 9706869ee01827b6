// The secrets contract on SQLite, and that destroyed secrets leave no bytes in its files.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { encryptedSecrets } from "../../src/stores/secrets/encrypted-secrets.ts";
import { keyringOf } from "../../src/stores/secrets/keyring.ts";
import { openSqliteSecrets } from "../../src/stores/secrets/sqlite.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { secretStoreContract } from "./secret-store.ts";
import { secretsContract } from "./secrets.ts";

const open = async (offThread: boolean) => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "secrets.db");
  const secrets = await openSqliteSecrets(file, { offThread });
  return {
    secrets,
    openAnother: () => openSqliteSecrets(file, { offThread }),
    close: async () => {
      await secrets.close();
      await folder.remove();
    },
  };
};

secretsContract("SQLite in the caller's thread", () => open(false));
secretsContract("SQLite in its own thread", () => open(true));

secretsContract("SQLite, encrypted", async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "secrets.db");
  const openOne = async () => encryptedSecrets(await openSqliteSecrets(file), keyringOf("a".repeat(32)));
  const secrets = await openOne();
  return {
    secrets,
    openAnother: openOne,
    close: async () => {
      await secrets.close();
      await folder.remove();
    },
  };
});

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
  it("leave no byte of a swept, a deleted or a replaced salt in any file", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const secrets = await openSqliteSecrets(join(folder.path, "secrets.db"));
    onTestFinished(() => secrets.close());
    const salts = { swept: "5a17".repeat(16), deleted: "d3a1".repeat(16), replaced: "0ff5".repeat(16) };
    await secrets.put("swept", { value: salts.swept, expiresAt: "2026-03-01T00:00:00.000Z" });
    await secrets.put("deleted", { value: salts.deleted });
    await secrets.put("replaced", { value: salts.replaced });
    expect(await bytesIn(folder.path)).toContain(salts.swept);
    await secrets.put("replaced", { value: "another" });
    await secrets.delete("deleted");
    await secrets.sweep(new Date("2026-03-01T00:00:00.000Z"));
    const remaining = await bytesIn(folder.path);
    for (const salt of Object.values(salts)) expect(remaining).not.toContain(salt);
  });

  it("are readable by their owner only", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const secrets = await openSqliteSecrets(join(folder.path, "secrets.db"));
    onTestFinished(() => secrets.close());
    await secrets.put("key", { value: 1 });
    for (const name of await readdir(folder.path))
      expect((await stat(join(folder.path, name))).mode & 0o077).toBe(0);
  });
});

async function bytesIn(folder: string): Promise<string> {
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  return Buffer.concat(files).toString("latin1");
}
