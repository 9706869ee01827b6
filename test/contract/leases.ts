// What leases promise, within a process and between processes.
import { beforeAll, describe, expect, it } from "vitest";
import type { Lease, Leases } from "../../src/coordination/leases.ts";

/** Two handles, as two processes would have. */
export type LeasesFixture = { leases: Leases; others: Leases; close(): Promise<void> };

const LONG_MS = 60_000;
const SHORT_MS = 100;

export function leasesContract(name: string, open: () => Promise<LeasesFixture>): void {
  describe(`leases: ${name}`, () => {
    let leases: Leases;
    let others: Leases;
    beforeAll(async () => {
      const fixture = await open();
      ({ leases, others } = fixture);
      return () => fixture.close();
    });
    const newName = () => `lease ${crypto.randomUUID()}`;

    it("gives a name to exactly one of twenty who race for it", async () => {
      const lease = newName();
      const race = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? leases : others).acquire(lease, `holder ${n}`, LONG_MS),
        ),
      );
      expect(race.filter((won) => won !== undefined)).toHaveLength(1);
    });

    it("keeps names apart", async () => {
      expect(await leases.acquire(newName(), "a", LONG_MS)).toBeDefined();
      expect(await others.acquire(newName(), "b", LONG_MS)).toBeDefined();
    });

    it("goes to another once its time is over, with a higher token", async () => {
      const first = await acquired(leases, newName(), SHORT_MS);
      const second = await soon(() => others.acquire(first.name, "b", LONG_MS));
      expect(second.token).toBeGreaterThan(first.token);
      expect(await leases.renew(first, LONG_MS)).toBe(false);
    });

    it("lasts beyond its first time when it is renewed", async () => {
      const lease = await acquired(leases, newName(), SHORT_MS);
      const witness = await acquired(leases, newName(), SHORT_MS * 2);
      expect(await leases.renew(lease, LONG_MS)).toBe(true);
      await soon(() => others.acquire(witness.name, "b", LONG_MS));
      expect(await others.acquire(lease.name, "b", LONG_MS)).toBeUndefined();
    });

    it("is free for others at once when it is released, with a higher token", async () => {
      const first = await acquired(leases, newName(), LONG_MS);
      await leases.release(first);
      const second = await acquired(others, first.name, LONG_MS);
      expect(second.token).toBeGreaterThan(first.token);
      expect(await leases.renew(first, LONG_MS)).toBe(false);
    });

    it("is not taken from its new holder by the release of an earlier one", async () => {
      const first = await acquired(leases, newName(), SHORT_MS);
      const second = await soon(() => others.acquire(first.name, "a", LONG_MS));
      await leases.release(first);
      expect(await others.renew(second, LONG_MS)).toBe(true);
    });
  });
}

async function acquired(leases: Leases, name: string, ttlMs: number): Promise<Lease> {
  const lease = await leases.acquire(name, "a", ttlMs);
  if (!lease) throw new Error(`${name} is taken`);
  return lease;
}

async function soon(acquire: () => Promise<Lease | undefined>): Promise<Lease> {
  let lease: Lease | undefined;
  await expect
    .poll(async () => {
      lease = await acquire();
      return lease;
    })
    .toBeDefined();
  return lease as Lease;
}
