// The contract of the leases port, within a process and between processes.
import { beforeAll, describe, expect, it } from "vitest";
import type { Leases } from "../../src/stores/coordination/leases.ts";

/** Two handles, as of two processes. */
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
    /** Polls until the earlier lease has expired. */
    const soonHeld = (lease: string, holder: string) =>
      expect.poll(() => others.hold(lease, holder, LONG_MS)).toBe(true);

    it("gives a lease to exactly one of twenty who race for it", async () => {
      const lease = newName();
      const race = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 ? leases : others).hold(lease, `holder ${n}`, LONG_MS)),
      );
      expect(race.filter((isHeld) => isHeld)).toHaveLength(1);
    });

    it("keeps leases of different names independent", async () => {
      expect(await leases.hold(newName(), "a", LONG_MS)).toBe(true);
      expect(await others.hold(newName(), "b", LONG_MS)).toBe(true);
    });

    it("goes to another holder once it has expired, and is then refused to the first", async () => {
      const lease = newName();
      expect(await leases.hold(lease, "a", SHORT_MS)).toBe(true);
      await soonHeld(lease, "b");
      expect(await leases.hold(lease, "a", LONG_MS)).toBe(false);
    });

    it("lasts beyond its first expiry when its holder renews it", async () => {
      const [lease, witness] = [newName(), newName()];
      expect(await leases.hold(lease, "a", SHORT_MS)).toBe(true);
      expect(await leases.hold(witness, "a", SHORT_MS * 2)).toBe(true);
      expect(await leases.hold(lease, "a", LONG_MS)).toBe(true);
      await soonHeld(witness, "b");
      expect(await others.hold(lease, "b", LONG_MS)).toBe(false);
    });

    it("is free for others as soon as it is released", async () => {
      const lease = newName();
      expect(await leases.hold(lease, "a", LONG_MS)).toBe(true);
      await leases.release(lease, "a");
      expect(await others.hold(lease, "b", LONG_MS)).toBe(true);
      expect(await leases.hold(lease, "a", LONG_MS)).toBe(false);
    });

    it("is not taken from its new holder by the release of an earlier one", async () => {
      const lease = newName();
      expect(await leases.hold(lease, "a", SHORT_MS)).toBe(true);
      await soonHeld(lease, "b");
      await leases.release(lease, "a");
      expect(await leases.hold(lease, "a", LONG_MS)).toBe(false);
      expect(await others.hold(lease, "b", LONG_MS)).toBe(true);
    });
  });
}
