// The contract of secret stores for re-encryption, beyond the secrets port.
import { beforeAll, describe, expect, it } from "vitest";
import { encryptedSecrets } from "../../src/stores/secrets/encrypted-secrets.ts";
import { keyringOf } from "../../src/stores/secrets/keyring.ts";
import type { SecretStore, StoredSecret } from "../../src/stores/secrets/port.ts";
import { storeWith } from "../support/runtime/store-with.ts";

const NOW = new Date("2026-03-01T10:00:00.000Z");
const OLD = "the secret key of the first year of all";
const NEW = "another secret key, for the second year";

/** `open`: an empty store for this suite only; the suite calls `close`. */
export function secretStoreContract(
  name: string,
  open: () => Promise<{ store: SecretStore; close(): Promise<void> }>,
): void {
  describe(`stored secrets: ${name}`, () => {
    let store: SecretStore;
    beforeAll(async () => {
      const opened = await open();
      store = opened.store;
      return () => opened.close();
    });

    const all = async () => {
      const found: StoredSecret[] = [];
      for (let after = ""; ; after = found.at(-1)?.key ?? "") {
        const page = await store.page(after, 3);
        found.push(...page);
        if (page.length < 3) return found;
      }
    };
    const clear = async () => {
      for (const { key } of await all()) await store.delete(key);
    };

    it("are paged in the order of keys, with value and expiry, expired or not", async () => {
      await clear();
      const expiresAt = "2026-02-01T00:00:00.000Z";
      for (const n of [4, 2, 0, 3, 1])
        await store.put(`page/${n}`, { value: { n }, ...(n === 2 && { expiresAt }) });
      const found = await all();
      expect(found).toEqual(
        [0, 1, 2, 3, 4].map((n) => ({ key: `page/${n}`, value: { n }, ...(n === 2 && { expiresAt }) })),
      );
    });

    it("are replaced only while they have the expected value, and keep their expiry", async () => {
      await clear();
      const expiresAt = "2026-03-02T00:00:00.000Z";
      await store.put("replaced", { value: "first", expiresAt });
      expect(await store.replace({ key: "replaced", value: "other" }, "second")).toBe(false);
      expect(await store.replace({ key: "replaced", value: "first" }, "second")).toBe(true);
      expect(await all()).toEqual([{ key: "replaced", value: "second", expiresAt }]);
      expect(await store.replace({ key: "missing", value: "first" }, "second")).toBe(false);
      expect(await store.get("missing", NOW)).toBeUndefined();
    });

    it("are removed only while they have the expected value", async () => {
      await clear();
      await store.put("removed", { value: { a: 1 } });
      expect(await store.remove({ key: "removed", value: { a: 2 } })).toBe(false);
      expect(await store.remove({ key: "removed", value: { a: 1 } })).toBe(true);
      expect(await store.remove({ key: "removed", value: { a: 1 } })).toBe(false);
    });

    it("are readable with the key only", async () => {
      await clear();
      const secrets = encryptedSecrets(store, keyringOf(OLD));
      await fill(secrets);
      await expectAll(secrets);
      expect(await secrets.reencrypt(NOW)).toBe(0);
      const text = JSON.stringify(await all());
      for (const secret of ["you@example.com", "whk_", DIGEST]) expect(text).not.toContain(secret);
    });

    it("under an old key are readable beside the new one, and are re-encrypted, also across an interruption", async () => {
      await clear();
      await fill(encryptedSecrets(store, keyringOf(OLD)));
      const both = encryptedSecrets(store, keyringOf(NEW, OLD));
      await expectAll(both);
      const cutOff = new AbortController();
      const first = both.reencrypt(NOW, cutOff.signal);
      cutOff.abort();
      expect(await first).toBeLessThan(26);
      await expectAll(both);
      await both.reencrypt(NOW);
      await expectAll(encryptedSecrets(store, keyringOf(NEW)));
      const old = encryptedSecrets(store, keyringOf(OLD));
      await expect(old.get("email/1", NOW)).rejects.toThrow(/another SECRET_KEY/);
      await expect(old.put("email/2", { value: "x" })).rejects.toThrow(/another SECRET_KEY/);
      await expect(old.putIfAbsent("email/2", { value: "x" }, NOW)).rejects.toThrow(/another SECRET_KEY/);
      await expect(old.putIfPresent("email/1", { value: "x" }, NOW)).rejects.toThrow(/another SECRET_KEY/);
      await expectAll(both);
      expect((await all()).map(({ key }) => key)).not.toContain("email/2");
    });

    it("are replaced by what is put under a new key, also where their name depends on the key", async () => {
      await clear();
      await encryptedSecrets(store, keyringOf(OLD)).put(BY_EMAIL, { value: "1" });
      const both = encryptedSecrets(store, keyringOf(NEW, OLD));
      await both.put(BY_EMAIL, { value: "2" });
      expect(await both.get(BY_EMAIL, NOW)).toBe("2");
    });

    it("that are changed or deleted during re-encryption stay so", async () => {
      await clear();
      await fill(encryptedSecrets(store, keyringOf(OLD)));
      const secrets = encryptedSecrets(store, keyringOf(NEW, OLD));
      // Changes each record between its read and its write.
      const slow = storeWith(store, {
        page: async (after, limit) => {
          const found = await store.page(after, limit);
          if (after !== "") return found;
          await secrets.put("email/1", { value: "new@example.com" });
          for (const key of [BY_EMAIL, LOCK, "webhook:7"]) await secrets.delete(key);
          return found;
        },
      });
      await encryptedSecrets(slow, keyringOf(NEW, OLD)).reencrypt(NOW);
      expect(await secrets.get("email/1", NOW)).toBe("new@example.com");
      expect(await secrets.get(BY_EMAIL, NOW)).toBeUndefined();
      expect(await secrets.get("webhook:7", NOW)).toBeUndefined();
      const remaining = (await all()).map(({ key }) => key);
      expect(remaining.filter((key) => key.startsWith("account-by-email/") || key === "webhook:7")).toEqual(
        [],
      );
    });
  });
}

const DIGEST = "1f".repeat(32);
const BY_EMAIL = `account-by-email/${DIGEST}`;
const LOCK = `${BY_EMAIL}/lock`;

async function fill(secrets: Pick<SecretStore, "put">): Promise<void> {
  await secrets.put("email/1", { value: "you@example.com" });
  await secrets.put(BY_EMAIL, { value: "1" });
  await secrets.put("token/sign-up/1", { value: { a: [1] }, expiresAt: "2026-03-02T00:00:00.000Z" });
  await secrets.put(LOCK, { value: "1", expiresAt: "2026-03-02T00:00:00.000Z" });
  for (let n = 0; n < 21; n++) await secrets.put(`webhook:${n}`, { value: { key: `whk_${n}` } });
}

async function expectAll(secrets: Pick<SecretStore, "get" | "list">): Promise<void> {
  expect(await secrets.get("email/1", NOW)).toBe("you@example.com");
  expect(await secrets.get(BY_EMAIL, NOW)).toBe("1");
  expect(await secrets.get("token/sign-up/1", NOW)).toEqual({ a: [1] });
  expect(await secrets.get("token/sign-up/1", new Date("2026-03-03T00:00:00.000Z"))).toBeUndefined();
  expect(await secrets.get(LOCK, NOW)).toBe("1");
  expect(await secrets.get(LOCK, new Date("2026-03-03T00:00:00.000Z"))).toBeUndefined();
  expect(await secrets.list("webhook:", NOW)).toHaveLength(21);
  expect(await secrets.get("webhook:20", NOW)).toEqual({ key: "whk_20" });
}
