// The secrets contract on SQLite, and that destroyed secrets leave no bytes in its files.
import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { encryptedSecrets } from "../../src/stores/secrets/encrypted-secrets.ts";
import { keyringOf } from "../../src/stores/secrets/keyring.ts";
import { openSqliteSecrets, remoteSecrets } from "../../src/stores/secrets/secret-store.sqlite.ts";
import { effort } from "../support/runtime/effort.ts";
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
  it("leave no byte of a swept, a removed or a replaced value in any file, whatever else is read and written", async () => {
    type Step = { name: string; characters: number; isRemoved: boolean; expires: boolean };
    const step: fc.Arbitrary<Step> = fc.record({
      name: fc.constantFrom("a", "b", "c", "d", "e"),
      characters: fc.constantFrom(40, 500, 3_000, 9_000),
      isRemoved: fc.boolean(),
      expires: fc.boolean(),
    });
    const check = async (steps: Step[]) => {
      const folder = await temporaryFolder();
      const file = join(folder.path, "secrets.db");
      const secrets = await openSqliteSecrets(file);
      const gone = new Set<string>();
      const kept = new Map<string, string>();
      const reader = new DatabaseSync(file);
      reader.exec("BEGIN; SELECT * FROM secrets");
      for (const [n, { name, characters, isRemoved, expires }] of steps.entries()) {
        const value = randomBytes(characters).toString("base64url");
        const before = kept.get(name);
        if (before) gone.add(before);
        if (before && isRemoved) await secrets.remove(name);
        else await secrets.swap(before ? { name, value: before } : undefined, { name, value });
        if (before && isRemoved) kept.delete(name);
        else kept.set(name, value);
        const swept = randomBytes(characters).toString("base64url");
        if (expires) await secrets.swap(undefined, { name: `expired ${n}`, value: swept, expiresAt: "2026" });
        gone.add(swept);
        await secrets.sweep(new Date());
        if (n === 0) reader.exec("ROLLBACK");
      }
      reader.close();
      // Of those that were in the way of the reader alone.
      await secrets.swap(undefined, { name: "last", value: "1" });
      const bytes = await bytesIn(folder.path);
      for (const value of gone) expect(partsOf(value).some((part) => bytes.includes(part))).toBe(false);
      await secrets.close();
      await folder.remove();
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), check), {
      numRuns: effort(15, 150),
    });
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

/** A value may lie on several pages. */
function partsOf(value: string): string[] {
  return value.match(/.{20}/g) ?? [];
}

async function bytesIn(folder: string): Promise<string> {
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  return Buffer.concat(files).toString("latin1");
}
