// The contract of counting the visits of links with a limit, within a process and between processes.
import { beforeAll, describe, expect, it } from "vitest";
import { type CountVisits, KEPT_MS, visitCounter } from "../../src/redirect/visits/click-limit.ts";
import type { CountsFixture } from "./counts.ts";

export function visitCounterContract(name: string, open: () => Promise<CountsFixture>): void {
  describe(`visit counter: ${name}`, () => {
    let counter: CountVisits;
    let others: CountVisits;
    let now = Date.parse("2026-03-01T10:00:00.000Z");
    beforeAll(async () => {
      const fixture = await open();
      const clock = () => new Date(now);
      [counter, others] = [visitCounter(fixture.counts, clock), visitCounter(fixture.others, clock)];
      return () => fixture.close();
    });
    const newLink = () => `localhost/${crypto.randomUUID()}`;
    const one = { add: 1 } as const;
    const look = { add: 0 } as const;

    it("asks for what the documents hold, and changes nothing, while it knows no count", async () => {
      const link = newLink();
      expect(await counter(link, 1, one)).toBeUndefined();
      expect(await counter(link, 1, look)).toBeUndefined();
      expect(await others(link, 1, one)).toBeUndefined();
    });

    it("begins with what the documents hold, and lets in as many as are left", async () => {
      const link = newLink();
      expect(await counter(link, 7, { ...one, atLeast: 5 })).toBe(true);
      expect(await others(link, 7, one)).toBe(true);
      expect(await counter(link, 7, one)).toBe(false);
      expect(await others(link, 7, one)).toBe(false);
    });

    it("lets nobody in where the documents hold as many already", async () => {
      const link = newLink();
      expect(await counter(link, 5, { ...one, atLeast: 5 })).toBe(false);
      expect(await others(link, 5, one)).toBe(false);
    });

    it("counts nothing when it is only asked", async () => {
      const link = newLink();
      for (const each of [counter, others, counter])
        expect(await each(link, 1, { ...look, atLeast: 0 })).toBe(true);
      expect(await others(link, 1, one)).toBe(true);
      expect(await counter(link, 1, look)).toBe(false);
    });

    it("gives a visit back, also when the limit is reached, and never below none", async () => {
      const link = newLink();
      await counter(link, 1, { ...one, atLeast: 0 });
      await others(link, 1, { add: -1 });
      await others(link, 1, { add: -1 });
      expect(await counter(link, 1, one)).toBe(true);
      expect(await counter(link, 1, one)).toBe(false);
    });

    it("is raised to what the documents hold, and never lowered to it", async () => {
      const link = newLink();
      await counter(link, 10, { ...one, atLeast: 3 });
      expect(await others(link, 5, { ...look, atLeast: 1 })).toBe(true);
      expect(await others(link, 4, { ...look, atLeast: 1 })).toBe(false);
      expect(await others(link, 9, { ...look, atLeast: 9 })).toBe(false);
      expect(await counter(link, 9, look)).toBe(false);
    });

    it("takes the limit of each visit, so that raising and lowering it apply to the next one", async () => {
      const link = newLink();
      await counter(link, 1, { ...one, atLeast: 0 });
      expect(await counter(link, 1, one)).toBe(false);
      expect(await others(link, 2, one)).toBe(true);
      expect(await counter(link, 1, one)).toBe(false);
    });

    it("lets in exactly as many as the limit of those that race through two processes", async () => {
      const link = newLink();
      const race = await Promise.all(
        Array.from({ length: 60 }, (_, n) => (n % 2 ? counter : others)(link, 25, { ...one, atLeast: 5 })),
      );
      expect(race.filter((isBelow) => isBelow)).toHaveLength(20);
    });

    it("keeps links apart", async () => {
      await counter(newLink(), 1, { ...one, atLeast: 0 });
      expect(await counter(newLink(), 1, { ...one, atLeast: 0 })).toBe(true);
    });

    it("forgets a count some time after it has changed, whoever asks meanwhile", async () => {
      const link = newLink();
      expect(await counter(link, 1, { ...one, atLeast: 0 })).toBe(true);
      now += KEPT_MS - 1;
      expect(await others(link, 1, look)).toBe(false);
      now += 1;
      expect(await others(link, 1, one)).toBeUndefined();
    });
  });
}
