// The draws of the benchmarks: evenly, and by Zipf's law.
import { describe, expect, it } from "vitest";
import { type Draw, drawOf, randomNumbers } from "../../../bench/traffic/draw.ts";

const COUNT = 100;
const DRAWN = 200_000;

/** How often each number was drawn, the most frequent first. */
function frequencies(draw: Draw): number[] {
  const counts = new Array<number>(COUNT).fill(0);
  const next = drawOf(draw, COUNT, randomNumbers(1));
  for (let n = 0; n < DRAWN; n++) {
    const drawn = next();
    counts[drawn] = (counts[drawn] ?? Number.NaN) + 1;
  }
  return counts.sort((a, b) => b - a);
}

describe("the draws of the benchmarks", () => {
  it("draws every number about as often, evenly", () => {
    const counts = frequencies("even");
    expect(counts.at(-1)).toBeGreaterThan((DRAWN / COUNT) * 0.8);
    expect(counts[0]).toBeLessThan((DRAWN / COUNT) * 1.2);
  });

  it("draws the second most frequent half as often as the first, the tenth a tenth as often, by Zipf", () => {
    const counts = frequencies("zipf");
    const [first = 0, second = 0] = counts;
    expect(second / first).toBeCloseTo(1 / 2, 1);
    expect((counts[9] ?? 0) / first).toBeCloseTo(1 / 10, 1);
    expect(counts.every((count) => count > 0)).toBe(true);
  });

  it("draws the same numbers again from the same seed", () => {
    const [one, other] = [1, 2].map(() => drawOf("zipf", COUNT, randomNumbers(7)));
    const drawn = (next = one) => Array.from({ length: 50 }, () => next?.());
    expect(drawn(one)).toEqual(drawn(other));
  });
});
