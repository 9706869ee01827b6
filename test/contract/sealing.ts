// Sealing a log and verifying it, on every event store.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealKeysOf } from "../../src/audit/seals/seal-keys.ts";
import { Sealer, type SealerDeps } from "../../src/audit/seals/sealer.ts";
import { type SealedVerificationOptions, verifySealedLog } from "../../src/audit/verify-sealed-log.ts";
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
    let known: string | undefined;
    let reads = 0;
    const clock = () => new Date();
    const newest: SealerDeps["newest"] = {
      get: async () => known,
      async set(position) {
        known = position;
      },
      async forget() {
        known = undefined;
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
      async readAll(options: Parameters<EventStore["readAll"]>[0]) {
        const events = await eventStore.readAll(options);
        reads += events.length;
        return events;
      },
    });
    const sealer = (more: Partial<SealerDeps> = {}, options = {}) =>
      Sealer.open(
        { eventStore: counting(), keys: [keys], newest, clock, newId: randomUUID, ...more },
        options,
      );
    const readAll = async (one: Sealer) => {
      while (await one.read());
      return one;
    };
    const verify = (options: SealedVerificationOptions = {}) =>
      verifySealedLog({ eventStore, clock, keys: [keys], newest }, options);
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
      expect([one.unsealed, one.last]).toEqual([0, undefined]);
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
      expect(one.unsealed).toBe(102);
      expect(await one.seal()).toMatchObject({ number: 1, events: 102, total: 10_102 });
      const seals = await eventStore.read(SEALS_STREAM);
      expect(seals.map(({ type, revision }) => [type, revision])).toEqual([
        ["LogSealed", 0],
        ["LogSealed", 1],
      ]);
      // EventStoreDB takes a megabyte.
      for (const { data } of seals) expect(JSON.stringify(data).length).toBeLessThan(600_000);
    });

    it("finds nothing wrong with the whole of it, and reads only what is new behind a kept anchor", async () => {
      expect(await verify()).toMatchObject({
        ...{ ok: true, verdict: "proved", events: 10_102, problems: [] },
        seals: { count: 2, good: 2, newest: 1, unsealed: 0 },
      });
      await clicks(7);
      const whole = await verify();
      expect(whole).toMatchObject({ ok: true, events: 10_109, seals: { good: 2, unsealed: 7 } });
      const [, hash = ""] = /^seal:1:([0-9a-f]{64})$/.exec(whole.sealAnchor ?? "") ?? [];
      const resumed = await verify({ resumeFrom: { number: 1, hash } });
      expect(resumed).toMatchObject({ verdict: "unsealed", events: 7, skipped: { events: 10_102 } });
      expect(resumed.sentence).toMatch(
        /^Nothing is proved: .* 7 events .* 10,102 events before it were not read/,
      );
      const elsewhere = await verify({ resumeFrom: { number: 1, hash: "0".repeat(64) } });
      expect(elsewhere).toMatchObject({ ok: false, verdict: "problem" });
    });

    it("goes on after a restart with what is new", async () => {
      reads = 0;
      const one = await readAll(await sealer());
      expect(reads).toBe(7);
      expect(await one.seal()).toMatchObject({ number: 2, events: 7, total: 10_109 });
      expect(await verify()).toMatchObject({ ok: true, problems: [], seals: { newest: 2 } });
    });

    it("lets one of two that seal at the same time succeed", async () => {
      await clicks(3);
      const [one, other] = [await readAll(await sealer()), await readAll(await sealer())];
      expect(await one.seal()).toMatchObject({ number: 3, events: 3 });
      await expect(other.seal()).rejects.toThrow(RevisionConflict);
      const again = await readAll(await sealer());
      expect([again.last?.number, again.unsealed]).toEqual([3, 0]);
    });

    it("continues under a changed key while the one before is known, and not without it", async () => {
      const next = sealKeysOf("another secret key that is long enough too");
      await expect(sealer({ keys: [next] })).rejects.toThrow("seal 3 is signed with another key");
      const one = await readAll(await sealer({ keys: [next, keys] }));
      expect(one.hasKeyChanged).toBe(true);
      expect(await one.seal()).toMatchObject({ number: 4, events: 0, publicKey: next.publicKey });
      // Its hash of the seal before binds all that the earlier key has signed.
      const found = await verifySealedLog({ eventStore, clock, keys: [next], newest });
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
      known = `${known}9`;
      const message = `the newest seal, at position ${known}, is not in the log any more`;
      await expect(sealer({ keys: [sealKeysOf("x"), keys] }, {})).rejects.toThrow();
      expect(await verify()).toMatchObject({ ok: false });
      const both = [sealKeysOf("another secret key that is long enough too"), keys] as const;
      await expect(sealer({ keys: [both[0], both[1]] })).rejects.toThrow(message);
      expect((await sealer({ keys: [both[0], both[1]] }, { anyway: true })).last?.number).toBe(4);
      expect(known).toBeUndefined();
      known = kept;
    });

    it("knows by the hash of a seal, kept elsewhere, that it is still there", async () => {
      const both = [sealKeysOf("another secret key that is long enough too"), keys];
      const anchored = (hash: string) =>
        verifySealedLog({ eventStore, clock, keys: both, newest }, { known: { seal: { number: 4, hash } } });
      const { sealAnchor } = await verifySealedLog({ eventStore, clock, keys: both, newest });
      expect(await anchored(sealAnchor?.split(":")[2] ?? "")).toMatchObject({ ok: true });
      expect((await anchored("0".repeat(64))).problems).toMatchObject([
        { check: "seal", revision: 4, message: "seal 4 is not the one of the anchor" },
      ]);
    });
  });
}
