// The event store contract for append: expected revisions, atomicity and idempotency.
import { describe, expect, it } from "vitest";
import { type ExpectedRevision, RevisionConflict } from "../../src/stores/event-store/port.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import type { Subject } from "./event-store-fixture.ts";

export function appendPromises({ fixture, newStream }: Subject): void {
  describe("append", () => {
    it("returns the last revision and a position that sorts as text", async () => {
      const { store } = fixture();
      const stream = newStream();
      const first = await store.append(stream, "none", sampleEvents(2));
      const second = await store.append(stream, first.revision, sampleEvents(1));
      expect([first.revision, second.revision]).toEqual([1, 2]);
      expect(second.position > first.position).toBe(true);
      expect(second.position).toBe((await store.read(stream)).at(-1)?.position);
    });

    it("lets exactly one of twenty racing appends create a stream", async () => {
      const { store } = fixture();
      const stream = newStream();
      const race = await Promise.allSettled(
        Array.from({ length: 20 }, () => store.append(stream, "none", [sampleEvent()])),
      );
      expect(race.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const lost = race.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason);
      expect(lost.every((reason) => reason instanceof RevisionConflict)).toBe(true);
      expect(await store.read(stream)).toHaveLength(1);
    });

    it("lets exactly one of two handles win a race for a revision", async () => {
      const { store, openAnother } = fixture();
      const stream = newStream();
      await store.append(stream, "none", [sampleEvent()]);
      const other = await openAnother();
      const race = await Promise.allSettled(
        [store, other].map((one) => one.append(stream, 0, [sampleEvent()])),
      );
      await other.close();
      expect(race.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect((await store.read(stream)).map(({ revision }) => revision)).toEqual([0, 1]);
    });

    it("names the expected and the actual revision in a conflict", async () => {
      const { store } = fixture();
      const stream = newStream();
      const missing = await conflict(store.append(stream, 4, [sampleEvent()]));
      expect(missing).toMatchObject({ code: "revision_conflict", stream, expected: 4, actual: "none" });
      await store.append(stream, "none", sampleEvents(3));
      expect(await conflict(store.append(stream, 1, [sampleEvent()]))).toMatchObject({ actual: 2 });
      expect(await conflict(store.append(stream, "none", [sampleEvent()]))).toMatchObject({
        expected: "none",
        actual: 2,
      });
    });

    it.each<[string, ExpectedRevision]>([
      ["none", "none"],
      ["an exact revision", 1],
    ])(
      "answers a re-append of the same events at %s as the first time, and writes nothing",
      async (_, at) => {
        const { store } = fixture();
        const stream = newStream();
        if (at !== "none") await store.append(stream, "none", sampleEvents(2));
        const events = sampleEvents(3);
        const first = await store.append(stream, at, events);
        expect(await store.append(stream, at, events)).toEqual(first);
        await store.append(stream, first.revision, sampleEvents(1));
        expect(await store.append(stream, at, events)).toEqual(first);
        expect(await store.read(stream)).toHaveLength(first.revision + 2);
      },
    );

    it("conflicts when only a part of the batch is already there", async () => {
      const { store } = fixture();
      const stream = newStream();
      const events = sampleEvents(3);
      await store.append(stream, "none", events.slice(0, 2));
      expect(await conflict(store.append(stream, "none", events))).toMatchObject({ actual: 1 });
      expect(await store.read(stream)).toHaveLength(2);
    });

    it("conflicts when other events are at that revision", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(2));
      await conflict(store.append(stream, "none", sampleEvents(2)));
      expect(await store.read(stream)).toHaveLength(2);
    });

    it.each(["\\", '"', "\n", "a\u0001", "\ud83d"])(
      "refuses data with a member's name that JSON escapes, such as %j, which Node may read as another one",
      async (name) => {
        const { store } = fixture();
        const stream = newStream();
        const nested = sampleEvent({ sound: "\\", list: [{ [name]: 1 }] });
        await expect(store.append(stream, "none", [sampleEvent(), nested])).rejects.toThrow(TypeError);
        expect(await store.read(stream)).toEqual([]);
      },
    );

    it("takes batches of hundreds of events", async () => {
      const { store } = fixture();
      const stream = newStream();
      expect(await store.append(stream, "none", sampleEvents(500))).toMatchObject({ revision: 499 });
      expect((await store.read(stream)).map(({ revision }) => revision)).toEqual([...Array(500).keys()]);
    });
  });
}

async function conflict(append: Promise<unknown>): Promise<RevisionConflict> {
  const error = await append.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RevisionConflict);
  return error as RevisionConflict;
}
