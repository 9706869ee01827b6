// The same work on many links, whatever fails in between.
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { onEachLink } from "../../../src/commands/links/bulk/each-link.ts";
import { Refused } from "../../../src/commands/refusals.ts";

const items = fc.array(
  fc.record({
    ends: fc.constantFrom("well", "well", "well", "refused", "fatal"),
    key: fc.constantFrom("a", "b", "c"),
    turns: fc.nat(3),
  }),
  { maxLength: 30 },
);

it("lets a refusal stop nobody, what shares a key go one after the other, and a fault end it with nothing in flight", () =>
  fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 30 }), fc.boolean(), async (all, atOnce, isKeyed) => {
      const inFlight = new Map<string, number>();
      const begun: number[] = [];
      let most = 0;
      // Behind those that were to begin together with one that failed.
      let end = all.length;
      const work = async ({ ends, key, turns }: (typeof all)[number], index: number) => {
        begun.push(index);
        inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
        most = Math.max(most, inFlight.get(key) ?? 0);
        for (let n = 0; n < turns; n++) await setImmediate();
        inFlight.set(key, (inFlight.get(key) ?? 0) - 1);
        if (ends === "refused") throw new Refused("link_deleted");
        if (ends === "well") return index;
        if (!isKeyed) end = Math.min(end, (Math.floor(index / atOnce) + 1) * atOnce);
        throw new Error("the disk is full");
      };
      const keysOf = ({ key }: { key: string }) => [key];
      const outcome = await onEachLink(all, work, { atOnce, ...(isKeyed && { keysOf }) }).catch(String);
      expect([...inFlight.values()].every((count) => count === 0)).toBe(true);
      if (isKeyed) expect(most).toBeLessThanOrEqual(1);
      if (typeof outcome === "string") {
        expect(outcome).toBe("Error: the disk is full");
        expect(Math.max(...begun)).toBeLessThan(end);
        return;
      }
      const indexesOf = (ends: string) => all.flatMap((item, index) => (item.ends === ends ? [index] : []));
      expect(outcome.results.map(({ index, result }) => [index, result])).toEqual(
        indexesOf("well").map((index) => [index, index]),
      );
      expect(outcome.failures.map(({ index }) => index)).toEqual(indexesOf("refused"));
      expect(begun.toSorted((a, b) => a - b)).toEqual([...all.keys()]);
    }),
  ));
