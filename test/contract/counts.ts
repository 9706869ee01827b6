// The contract of counts, by what is counted with them: requests, visits of links with a limit, open streams.
import { describe, expect, it, onTestFinished } from "vitest";
import { openStreams } from "../../src/limits/open-streams.ts";
import type { Counts } from "../../src/stores/counts/counts.ts";
import { rateLimitsContract } from "./rate-limit.ts";
import { visitCounterContract } from "./visit-counter.ts";

/** Two clients of the same counts, as in two processes. */
export type CountsFixture = { counts: Counts; others: Counts; close(): Promise<void> };

export function countsContract(name: string, open: () => Promise<CountsFixture>): void {
  rateLimitsContract(name, open);
  visitCounterContract(name, open);

  describe(`open streams: ${name}`, () => {
    const opened = async () => {
      const { counts, others, close } = await open();
      onTestFinished(close);
      let now = Date.parse("2026-03-01T10:00:00.000Z");
      const limits = { ofAccount: 2, inProcess: 3 };
      const kind = `streams-${crypto.randomUUID()}`;
      const [one, other] = [counts, others].map((own) => {
        const streams = openStreams({ counts: own, clock: () => new Date(now), kind }, limits);
        onTestFinished(() => streams.close());
        return streams;
      });
      if (!one || !other) throw new Error("two were opened");
      return { one, other, pass: (ms: number) => (now += ms) };
    };

    it("are limited by account in all processes together, and by process", async () => {
      const { one, other } = await opened();
      const first = await one.enter("a");
      expect([await other.enter("a"), await one.enter("a"), await other.enter("a")].map(Boolean)).toEqual([
        true,
        false,
        false,
      ]);
      expect([await one.enter("b"), await one.enter("c"), await one.enter("d")].map(Boolean)).toEqual([
        true,
        true,
        false,
      ]);
      expect(await other.enter("d")).toBeDefined();
      // Twice, as a client may disconnect while its stream ends.
      for (const _ of [1, 2]) if (first) await one.leave(first);
      expect([await other.enter("a"), await one.enter("a")].map(Boolean)).toEqual([true, false]);
    });

    it("of a process that was killed are gone after twenty seconds", async () => {
      const { one, other, pass } = await opened();
      await one.enter("a");
      await one.enter("a");
      pass(19_000);
      expect(await other.enter("a")).toBeUndefined();
      pass(2_000);
      expect(await other.enter("a")).toBeDefined();
    });

    it("never exceed the limit among those that race for it in two processes", async () => {
      const { one, other } = await opened();
      const race = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? one : other).enter("a")));
      expect(race.filter(Boolean)).toHaveLength(2);
    });
  });
}
