// The contract of the secrets port, for every adapter; keys are unique, so it can run against a store in use.
import { beforeAll, describe, expect, it } from "vitest";
import type { Secrets } from "../../src/stores/secrets/port.ts";

export type SecretsFixture = {
  secrets: Secrets;
  /** A second handle on the same secrets; the suite closes it. */
  openAnother(): Promise<Secrets>;
  close(): Promise<void>;
};

const NOW = new Date("2026-03-01T10:00:00.000Z");
const LATER = new Date("2026-03-01T10:00:01.000Z");
const expiresAt = LATER.toISOString();

export function secretsContract(name: string, open: () => Promise<SecretsFixture>): void {
  describe(`secrets: ${name}`, () => {
    let fixture: SecretsFixture;
    let keys = 0;
    const newKey = () => {
      keys += 1;
      return `test/${crypto.randomUUID()}/${keys}`;
    };
    beforeAll(async () => {
      fixture = await open();
      return () => fixture.close();
    });

    it("reads an unknown key as absent", async () => {
      expect(await fixture.secrets.get(newKey(), NOW)).toBeUndefined();
    });

    it("returns the JSON that was put last", async () => {
      const key = newKey();
      for (const value of [{ a: [1, null, "é"] }, "text", 0, false, null]) {
        await fixture.secrets.put(key, { value });
        expect(await fixture.secrets.get(key, NOW)).toEqual(value);
      }
    });

    it("reads a record as absent from the moment it expires", async () => {
      const key = newKey();
      await fixture.secrets.put(key, { value: "salt", expiresAt });
      expect(await fixture.secrets.get(key, NOW)).toBe("salt");
      expect(await fixture.secrets.get(key, LATER)).toBeUndefined();
    });

    it("lists the records under a prefix, ordered by key, without expired ones and similar categories", async () => {
      const prefix = `${newKey()}/`;
      await fixture.secrets.put(`${prefix}b`, { value: { n: 2 } });
      await fixture.secrets.put(`${prefix}a`, { value: "first" });
      await fixture.secrets.put(`${prefix}gone`, { value: 1, expiresAt });
      await fixture.secrets.put(`${prefix.slice(0, -1)}0`, { value: "a neighbour" });
      await fixture.secrets.put(prefix.slice(0, -1), { value: "its parent" });
      expect(await fixture.secrets.list(prefix, LATER)).toEqual([
        { key: `${prefix}a`, value: "first" },
        { key: `${prefix}b`, value: { n: 2 } },
      ]);
      expect(await fixture.secrets.list(newKey(), NOW)).toEqual([]);
    });

    it("puts only if absent, and returns what is stored", async () => {
      const key = newKey();
      expect(await fixture.secrets.putIfAbsent(key, { value: "first" }, NOW)).toBe("first");
      expect(await fixture.secrets.putIfAbsent(key, { value: "second" }, NOW)).toBe("first");
      expect(await fixture.secrets.get(key, NOW)).toBe("first");
    });

    it("returns the same secret to all who race to put one", async () => {
      const key = newKey();
      const other = await fixture.openAnother();
      const race = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? other : fixture.secrets).putIfAbsent(key, { value: index }, NOW),
        ),
      );
      await other.close();
      expect(new Set(race).size).toBe(1);
      expect(await fixture.secrets.get(key, NOW)).toBe(race[0]);
    });

    it("puts only if present: not when the record was deleted, has expired or never existed", async () => {
      const [living, deleted, expired, unknown] = [newKey(), newKey(), newKey(), newKey()];
      await fixture.secrets.put(living, { value: "before" });
      await fixture.secrets.put(deleted, { value: "before" });
      await fixture.secrets.delete(deleted);
      await fixture.secrets.put(expired, { value: "before", expiresAt });
      expect(await fixture.secrets.putIfPresent(living, { value: "after", expiresAt }, NOW)).toBe(true);
      for (const key of [deleted, expired, unknown])
        expect(await fixture.secrets.putIfPresent(key, { value: "after" }, LATER)).toBe(false);
      expect(await fixture.secrets.get(living, NOW)).toBe("after");
      expect(await fixture.secrets.get(living, LATER)).toBeUndefined();
      for (const key of [deleted, expired, unknown])
        expect(await fixture.secrets.get(key, LATER)).toBeUndefined();
    });

    it("lets one of twenty replace a value that all of them have read", async () => {
      const key = newKey();
      const other = await fixture.openAnother();
      await fixture.secrets.put(key, { value: { by: "before", n: [1] } });
      const race = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? other : fixture.secrets).putIfPresent(key, { value: { by: n } }, NOW, {
            n: [1],
            by: "before",
          }),
        ),
      );
      expect(race.filter(Boolean)).toHaveLength(1);
      expect(await fixture.secrets.get(key, NOW)).toEqual({ by: race.indexOf(true) });
      await other.close();
    });

    it("never restores a record that is deleted while others put it if present", async () => {
      const key = newKey();
      const other = await fixture.openAnother();
      await fixture.secrets.put(key, { value: "before" });
      await Promise.all([
        ...Array.from({ length: 10 }, (_, n) => other.putIfPresent(key, { value: n }, NOW)),
        fixture.secrets.delete(key),
        ...Array.from({ length: 10 }, (_, n) => other.putIfPresent(key, { value: n }, NOW)),
      ]);
      expect(await fixture.secrets.get(key, NOW)).toBeUndefined();
      await other.close();
    });

    it("returns a taken record to exactly one of twenty who take it, and deletes it", async () => {
      const key = newKey();
      const other = await fixture.openAnother();
      await fixture.secrets.put(key, { value: { once: true }, expiresAt });
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? other : fixture.secrets).take(key, NOW)),
      );
      await other.close();
      expect(taken.filter((value) => value !== undefined)).toEqual([{ once: true }]);
      expect(await fixture.secrets.get(key, NOW)).toBeUndefined();
      await fixture.secrets.put(key, { value: "old", expiresAt });
      expect(await fixture.secrets.take(key, LATER)).toBeUndefined();
    });

    it("deletes a record, and does not fail for a missing one", async () => {
      const key = newKey();
      await fixture.secrets.put(key, { value: 1 });
      await fixture.secrets.delete(key);
      await fixture.secrets.delete(key);
      expect(await fixture.secrets.get(key, NOW)).toBeUndefined();
    });

    it("destroys expired records and nothing else, and returns how many", async () => {
      await fixture.secrets.sweep(LATER);
      const [expired, alsoExpired, alive, lasting] = [newKey(), newKey(), newKey(), newKey()];
      await fixture.secrets.put(expired, { value: 1, expiresAt });
      await fixture.secrets.put(alsoExpired, { value: 1, expiresAt: NOW.toISOString() });
      await fixture.secrets.put(alive, { value: 2, expiresAt: "2026-03-01T10:00:02.000Z" });
      await fixture.secrets.put(lasting, { value: 3 });
      expect(await fixture.secrets.sweep(LATER)).toBe(2);
      expect(await fixture.secrets.sweep(LATER)).toBe(0);
      expect(await fixture.secrets.get(expired, NOW)).toBeUndefined();
      expect(await fixture.secrets.get(alive, LATER)).toBe(2);
      expect(await fixture.secrets.get(lasting, LATER)).toBe(3);
    });

    it("reads through one handle what another has put", async () => {
      const key = newKey();
      const other = await fixture.openAnother();
      await other.put(key, { value: "there" });
      expect(await fixture.secrets.get(key, NOW)).toBe("there");
      await other.close();
      expect(await fixture.secrets.get(key, NOW)).toBe("there");
    });
  });
}
