// Sealing a log and verifying it, on every event store.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KnownSeal, parseAnchor } from "../../src/audit/seals/seal.ts";
import { type SealKeys, sealKeysOf } from "../../src/audit/seals/seal-keys.ts";
import { Sealer, type SealerDeps, sealAll } from "../../src/audit/seals/sealer.ts";
import { type VerificationOptions, verifyLog } from "../../src/audit/verify-log.ts";
import { SEALS_STREAM } from "../../src/events/streams.ts";
import { type EventStore, RevisionConflict } from "../../src/stores/event-store/port.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { append } from "../support/runtime/stores.ts";

type Fixture = { store: EventStore; close(): Promise<void> };

const keys = sealKeysOf("a secret key that is long enough to be one");

export function sealingContract(name: string, open: () => Promise<Fixture>): void {
  describe(`sealing: ${name}`, { timeout: 120_000 }, () => {
    let fixture: Fixture;
    let eventStore: EventStore;
    let known: KnownSeal | undefined;
    let reads = 0;
    const clock = () => new Date();
    const noted: SealerDeps["noted"] = {
      get: async () => known,
      async set(seal) {
        known = seal;
      },
    };
    beforeAll(async () => {
      fixture = await open();
      eventStore = fixture.store;
    });
    afterAll(() => fixture.close());

    const counting = () => ({
      read: eventStore.read.bind(eventStore),
      append: eventStore.append.bind(eventStore),
      async readStored(options: Parameters<EventStore["readStored"]>[0]) {
        const page = await eventStore.readStored(options);
        reads += page.events.length;
        return page;
      },
    });
    const sealer = (more: Partial<SealerDeps> = {}, options = {}) =>
      Sealer.open(
        { eventStore: counting(), keys: [keys], noted, clock, newId: randomUUID, ...more },
        options,
      );
    const readAll = async (one: Sealer) => {
      while (await one.read());
      return one;
    };
    const verify = async (
      trusted: readonly SealKeys[] = [keys],
      options: Partial<VerificationOptions> = {},
    ) => {
      const trust = { publicKeys: trusted.map(({ publicKey }) => publicKey), keyOrigin: "of SECRET_KEY" };
      return await verifyLog({ eventStore }, { trust, noted: await noted.get(), ...options });
    };
    const clicks = async (count: number) => {
      for (let n = 0; n < count; n += 500) {
        const some = Math.min(500, count - n);
        await append(
          eventStore,
          "clicks-a-20260301",
          Array.from({ length: some }, () => linkClicked()),
        );
      }
    };
    const at = new Date().toISOString();

    it("makes no seal of an empty log", async () => {
      const one = await readAll(await sealer());
      expect([one.unsealed.events, one.last]).toEqual([0, undefined]);
      expect(await verify()).toMatchObject({
        verdict: "unsealed",
        ok: false,
        seals: { good: 0, unsealed: 0 },
      });
    });

    it("seals ten thousand events at a time, and the rest when it is told to", async () => {
      await append(eventStore, `account-${ACCOUNT}`, [
        { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
      ]);
      await append(eventStore, "link-sho.rt/abc", [linkCreated({ at })]);
      await clicks(10_100);
      const one = await readAll(await sealer());
      expect(one.last).toMatchObject({ number: 0, events: 10_000, total: 10_000 });
      expect(one.unsealed).toEqual({ events: 102, clicks: 102 });
      // With the seal before.
      expect(await one.seal()).toMatchObject({ number: 1, events: 103, total: 10_103 });
      const seals = await eventStore.read(SEALS_STREAM);
      expect(seals.map(({ type, revision }) => [type, revision])).toEqual([
        ["LogSealed", 0],
        ["LogSealed", 1],
      ]);
      // EventStoreDB takes a megabyte.
      for (const { data } of seals) expect(JSON.stringify(data).length).toBeLessThan(100_000);
    });

    it("finds nothing wrong with the whole of it", async () => {
      expect(await verify()).toMatchObject({
        ...{ ok: true, verdict: "proved", events: 10_102, problems: [] },
        seals: { count: 2, good: 2, newest: 1, unsealed: 0 },
      });
      await clicks(7);
      expect(await verify()).toMatchObject({ ok: true, events: 10_109, seals: { good: 2, unsealed: 7 } });
    });

    it("goes on after a restart with what is new", async () => {
      reads = 0;
      const one = await readAll(await sealer());
      // With the seal before.
      expect(reads).toBe(8);
      expect(await one.seal()).toMatchObject({ number: 2, events: 8, total: 10_111 });
      expect(await verify()).toMatchObject({ ok: true, problems: [], seals: { newest: 2 } });
    });

    it("lets one of two that seal at the same time succeed", async () => {
      await clicks(3);
      const [one, other] = [await readAll(await sealer()), await readAll(await sealer())];
      expect(await one.seal()).toMatchObject({ number: 3, events: 4 });
      await expect(other.seal()).rejects.toThrow(RevisionConflict);
      const again = await readAll(await sealer());
      expect([again.last?.number, again.unsealed.events]).toEqual([3, 0]);
    });

    it("continues under a changed key while the one before is known, and not without it", async () => {
      const next = sealKeysOf("another secret key that is long enough too");
      await expect(sealer({ keys: [next] })).rejects.toThrow("seal 3 is signed with another key");
      const one = await readAll(await sealer({ keys: [next, keys] }));
      expect(one.hasKeyChanged).toBe(true);
      expect(await one.seal()).toMatchObject({ number: 4, events: 1, publicKey: next.publicKey });
      // Its hash of the seal before binds all that the earlier key has signed.
      const found = await verify([next]);
      expect(found).toMatchObject({ ok: true, problems: [], seals: { newest: 4 } });
      expect(await verify()).toMatchObject({
        ok: false,
        problems: [
          { check: "seal", stream: "seals", revision: 4, message: "seal 4 is signed with another key" },
        ],
        seals: { newest: 3 },
      });
    });

    it("neither seals nor verifies a log whose newest seal is gone, until the operator says so", async () => {
      const kept = known;
      known = { number: 5, hash: "00" };
      const message = "seal 5, the newest that was made, is not in the log";
      expect(await verify()).toMatchObject({ ok: false });
      const later = sealKeysOf("another secret key that is long enough too");
      await expect(sealer({ keys: [later, keys] })).rejects.toThrow(message);
      expect((await sealer({ keys: [later, keys] }, { anyway: true })).last?.number).toBe(4);
      expect(known).toEqual(kept);
    });

    it("knows by an anchor, kept elsewhere, that its seal is still there", async () => {
      const both = [sealKeysOf("another secret key that is long enough too"), keys];
      const { anchor } = await verify(both);
      expect(await verify(both, { anchor: parseAnchor(anchor ?? "") })).toMatchObject({ ok: true });
      const forged = await verify(both, { anchor: { number: 4, hash: "0".repeat(64) } });
      expect(forged.problems).toMatchObject([
        { check: "seal", revision: 4, message: "seal 4 is not the one of the anchor" },
      ]);
      const gone = await verify(both, { anchor: { number: 5, hash: "0".repeat(64) } });
      expect(gone.problems).toMatchObject([
        { message: expect.stringContaining("is not in the log any more") },
      ]);
    });

    it("seals all once when three seal again and again at the same time", async () => {
      const later = sealKeysOf("another secret key that is long enough too");
      const deps = { keys: [later, keys] as const, noted, clock, newId: randomUUID };
      for (let round = 0; round < 20; round++) {
        await clicks(2);
        await Promise.all([1, 2, 3].map(() => sealAll({ ...deps, eventStore: counting() })));
      }
      const { ok, problems, seals } = await verify([later, keys]);
      expect([ok, problems, seals.newest, seals.unsealed]).toEqual([true, [], 24, 0]);
    });
  });
}
