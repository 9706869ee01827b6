// The contract of what keeps sealed secrets, and of what lies in it when SECRET_KEY changes.
import { beforeAll, describe, expect, it } from "vitest";
import { encryptedSecrets } from "../../src/stores/secrets/encrypted-secrets.ts";
import { keyringOf } from "../../src/stores/secrets/keyring.ts";
import type { SecretStore, Secrets, StoredSecret } from "../../src/stores/secrets/port.ts";
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
      const stored: StoredSecret[] = [];
      for (let after = ""; ; after = stored.at(-1)?.name ?? "") {
        const page = await store.page("", after, 3);
        stored.push(...page);
        if (page.length < 3) return stored;
      }
    };
    const clear = async () => {
      for (const { name } of await all()) await store.remove(name);
    };

    it("are paged by prefix in the order of names, with value and expiry, expired or not", async () => {
      await clear();
      const expiresAt = "2026-02-01T00:00:00.000Z";
      const stored = (n: number) => ({ name: `page/${n}`, value: `v${n}`, ...(n === 2 && { expiresAt }) });
      for (const n of [4, 2, 0, 3, 1]) await store.swap(undefined, stored(n));
      for (const name of ["page", "page0", "pag/1"]) await store.swap(undefined, { name, value: "other" });
      expect(await store.page("page/", "", 3)).toEqual([0, 1, 2].map(stored));
      expect(await store.page("page/", "page/2", 3)).toEqual([3, 4].map(stored));
      expect(await store.get("page/2")).toEqual(stored(2));
      expect(await store.get("page/5")).toBeUndefined();
      expect(await all()).toHaveLength(8);
    });

    it("are written only while they are as expected, with their new expiry", async () => {
      await clear();
      const [first, second] = [
        { name: "swapped", value: "first", expiresAt: "2026-03-02T00:00:00.000Z" },
        { name: "swapped", value: "second" },
      ];
      expect(await store.swap(first, second)).toBe(false);
      expect(await store.swap(undefined, first)).toBe(true);
      expect(await store.swap(undefined, second)).toBe(false);
      expect(await store.swap({ ...first, value: "other" }, second)).toBe(false);
      expect(await all()).toEqual([first]);
      expect(await store.swap(first, second)).toBe(true);
      expect(await all()).toEqual([second]);
    });

    it("are removed, or only while they have the expected value", async () => {
      await clear();
      await store.swap(undefined, { name: "removed", value: "a" });
      expect(await store.remove("removed", "b")).toBe(false);
      expect(await store.remove("removed", "a")).toBe(true);
      expect(await store.remove("removed", "a")).toBe(false);
      await store.swap(undefined, { name: "removed", value: "a" });
      expect(await store.remove("removed")).toBe(true);
      expect(await all()).toEqual([]);
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
      expect((await all()).map(({ name }) => name)).not.toContain("email/2");
    });

    it("are replaced by what is put under a new key, also where their name depends on the key", async () => {
      await clear();
      await encryptedSecrets(store, keyringOf(OLD)).put(BY_EMAIL, { value: "1" });
      const both = encryptedSecrets(store, keyringOf(NEW, OLD));
      await both.put(BY_EMAIL, { value: "2" });
      expect(await both.get(BY_EMAIL, NOW)).toBe("2");
    });

    it("that were changed beside the key that they are named by get the name of the present one", async () => {
      await clear();
      await encryptedSecrets(store, keyringOf(OLD)).put(BY_EMAIL, { value: "1" });
      const both = encryptedSecrets(store, keyringOf(NEW, OLD));
      expect(await both.putIfPresent(BY_EMAIL, { value: "2" }, NOW)).toBe(true);
      await both.reencrypt(NOW);
      expect(await encryptedSecrets(store, keyringOf(NEW)).get(BY_EMAIL, NOW)).toBe("2");
      expect((await all()).filter(({ name }) => name.startsWith("account-by-email/"))).toHaveLength(1);
      expect(await both.reencrypt(NOW)).toBe(0);
    });

    it("that are changed or deleted during re-encryption stay so", async () => {
      await clear();
      await fill(encryptedSecrets(store, keyringOf(OLD)));
      const secrets = encryptedSecrets(store, keyringOf(NEW, OLD));
      // Changes each record between its read and its write.
      const slow = storeWith(store, {
        page: async (prefix, after, limit) => {
          const found = await store.page(prefix, after, limit);
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
      const remaining = (await all()).map(({ name }) => name);
      expect(
        remaining.filter((name) => name.startsWith("account-by-email/") || name === "webhook:7"),
      ).toEqual([]);
    });
  });
}

const DIGEST = "1f".repeat(32);
const BY_EMAIL = `account-by-email/${DIGEST}`;
const LOCK = `${BY_EMAIL}/lock`;

async function fill(secrets: Pick<Secrets, "put">): Promise<void> {
  await secrets.put("email/1", { value: "you@example.com" });
  await secrets.put(BY_EMAIL, { value: "1" });
  await secrets.put("token/sign-up/1", { value: { a: [1] }, expiresAt: "2026-03-02T00:00:00.000Z" });
  await secrets.put(LOCK, { value: "1", expiresAt: "2026-03-02T00:00:00.000Z" });
  for (let n = 0; n < 21; n++) await secrets.put(`webhook:${n}`, { value: { key: `whk_${n}` } });
}

async function expectAll(secrets: Pick<Secrets, "get" | "list">): Promise<void> {
  expect(await secrets.get("email/1", NOW)).toBe("you@example.com");
  expect(await secrets.get(BY_EMAIL, NOW)).toBe("1");
  expect(await secrets.get("token/sign-up/1", NOW)).toEqual({ a: [1] });
  expect(await secrets.get("token/sign-up/1", new Date("2026-03-03T00:00:00.000Z"))).toBeUndefined();
  expect(await secrets.get(LOCK, NOW)).toBe("1");
  expect(await secrets.get(LOCK, new Date("2026-03-03T00:00:00.000Z"))).toBeUndefined();
  expect(await secrets.list("webhook:", NOW)).toHaveLength(21);
  expect(await secrets.get("webhook:20", NOW)).toEqual({ key: "whk_20" });
}
