// The contract of rate limits (interface, part 8), within a process and between processes.
import { beforeAll, describe, expect, it } from "vitest";
import { type RateLimits, rateLimits, WINDOW_MS } from "../../src/limits/rate-limit.ts";
import type { CountsFixture } from "./counts.ts";

const START = Date.parse("2026-03-01T10:20:30.000Z");

export function rateLimitsContract(name: string, open: () => Promise<CountsFixture>): void {
  describe(`rate limits: ${name}`, () => {
    let limits: RateLimits;
    let others: RateLimits;
    const at = (milliseconds: number) => new Date(START + milliseconds);
    beforeAll(async () => {
      const fixture = await open();
      [limits, others] = [rateLimits(fixture.counts), rateLimits(fixture.others)];
      return () => fixture.close();
    });
    const newSubject = () => `key ${crypto.randomUUID()}`;

    it("grants as many as the limit, then none, the window starting with the first request", async () => {
      const subject = newSubject();
      const resetAt = START + WINDOW_MS;
      expect(await limits.take(subject, 2, at(0))).toEqual({ granted: true, used: 1, resetAt });
      expect(await limits.take(subject, 2, at(1000))).toEqual({ granted: true, used: 2, resetAt });
      expect(await limits.take(subject, 2, at(2000))).toEqual({ granted: false, used: 2, resetAt });
      expect(await limits.take(subject, 2, at(3000))).toEqual({ granted: false, used: 2, resetAt });
    });

    it("opens a new window with the first request after the end", async () => {
      const subject = newSubject();
      await limits.take(subject, 1, at(0));
      expect((await limits.take(subject, 1, at(WINDOW_MS - 1))).granted).toBe(false);
      const later = await limits.take(subject, 1, at(WINDOW_MS + 5000));
      expect(later).toEqual({ granted: true, used: 1, resetAt: START + 2 * WINDOW_MS + 5000 });
    });

    it("counts in a window that began at the very end of the one before", async () => {
      const subject = newSubject();
      await limits.take(subject, 2, at(0));
      expect(await limits.take(subject, 2, at(WINDOW_MS))).toMatchObject({ granted: true, used: 1 });
      expect(await limits.take(subject, 2, at(WINDOW_MS + 1))).toMatchObject({ granted: true, used: 2 });
    });

    it("ends a window within an hour, and says so, when the clock has been set back", async () => {
      const subject = newSubject();
      const day = 86_400_000;
      await limits.take(subject, 2, at(day));
      const set = { granted: true, used: 1, resetAt: START + WINDOW_MS };
      expect(await limits.take(subject, 2, at(0), 0)).toEqual(set);
      expect(await limits.take(subject, 2, at(0))).toEqual({ ...set, used: 2 });
      expect(await others.take(subject, 2, at(1000), 0)).toEqual({ ...set, granted: false, used: 2 });
      expect((await limits.take(subject, 2, at(WINDOW_MS))).granted).toBe(true);
    });

    it("grants exactly the limit to requests that race through two processes", async () => {
      const subject = newSubject();
      const race = await Promise.all(
        Array.from({ length: 60 }, (_, n) => (n % 2 ? limits : others).take(subject, 25, at(0))),
      );
      expect(race.filter(({ granted }) => granted)).toHaveLength(25);
    });

    it("counts nothing when it is only read", async () => {
      const subject = newSubject();
      const fresh = { granted: true, used: 0, resetAt: START + WINDOW_MS };
      expect(await limits.take(subject, 1, at(0), 0)).toEqual(fresh);
      expect(await limits.take(subject, 1, at(0), 0)).toEqual(fresh);
      await limits.take(subject, 1, at(0));
      const full = { granted: false, used: 1, resetAt: START + WINDOW_MS };
      expect(await others.take(subject, 1, at(1000), 0)).toEqual(full);
      expect((await limits.take(subject, 1, at(WINDOW_MS), 0)).granted).toBe(true);
    });

    it("gives a request back, also of a full window, and none below zero", async () => {
      const subject = newSubject();
      await limits.take(subject, 1, at(0));
      expect((await others.take(subject, 1, at(1), -1)).used).toBe(0);
      await limits.take(subject, 1, at(2), -1);
      expect(await limits.take(subject, 1, at(3))).toMatchObject({ granted: true, used: 1 });
      expect((await others.take(subject, 1, at(4))).granted).toBe(false);
    });

    it("takes the limit of each request, so that a change of tier applies to the next one", async () => {
      const subject = newSubject();
      await limits.take(subject, 1, at(0));
      expect((await limits.take(subject, 1, at(0))).granted).toBe(false);
      expect((await limits.take(subject, 2, at(0))).granted).toBe(true);
    });

    it("keeps subjects apart", async () => {
      await limits.take(newSubject(), 1, at(0));
      expect((await limits.take(newSubject(), 1, at(0))).granted).toBe(true);
    });
  });
}
