// What the shared link cache promises.
import { beforeAll, describe, expect, it } from "vitest";
import type { LinkCache } from "../../src/redirect/link-cache.ts";
import type { LinkFacts } from "../../src/redirect/link-entry.ts";

/** Two handles, as two processes would have. */
export type LinkCacheFixture = { cache: LinkCache; others: LinkCache; close(): Promise<void> };

export function linkCacheContract(name: string, open: () => Promise<LinkCacheFixture>): void {
  describe(`link cache: ${name}`, () => {
    let cache: LinkCache;
    let others: LinkCache;
    beforeAll(async () => {
      const fixture = await open();
      ({ cache, others } = fixture);
      return () => fixture.close();
    });
    const newKey = () => `localhost/${crypto.randomUUID()}`;

    it("has nothing of a link that nobody put", async () => {
      expect(await cache.get(newKey())).toBeUndefined();
    });

    it("gives every process the link as it was put", async () => {
      const key = newKey();
      await cache.put(key, link(3));
      expect(await others.get(key)).toEqual(link(3));
    });

    it("takes a newer revision and no older one", async () => {
      const key = newKey();
      await cache.put(key, link(3));
      await others.put(key, link(2));
      expect((await cache.get(key))?.revision).toBe(3);
      await others.put(key, link(10));
      expect((await cache.get(key))?.revision).toBe(10);
    });

    it("ends with the newest of many that race, whatever their order", async () => {
      const key = newKey();
      const revisions = Array.from({ length: 40 }, (_, n) => (n * 17) % 40);
      await Promise.all(revisions.map((revision, n) => (n % 2 ? cache : others).put(key, link(revision))));
      expect((await cache.get(key))?.revision).toBe(39);
    });

    it("drops what is outdated, and does not take it again from one who is late", async () => {
      const key = newKey();
      await cache.put(key, link(3));
      await others.outdate(key, 4);
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, link(3));
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, link(4));
      expect((await others.get(key))?.revision).toBe(4);
    });

    it("keeps a link that is as new as what outdates it", async () => {
      const key = newKey();
      await cache.put(key, link(3));
      await cache.outdate(key, 3);
      expect((await cache.get(key))?.revision).toBe(3);
    });
  });
}

function link(revision: number): LinkFacts {
  return {
    host: "localhost",
    slug: "abc",
    accountId: "5f0c6a3e-0000-4000-8000-000000000001",
    longUrl: `https://example.com/ü?revision=${revision}`,
    shortUrl: "http://localhost:3000/abc",
    status: "live",
    via: "api",
    revision,
  };
}
