// The coarse rank by which "most clicked" lists are indexed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clickRank } from "../../../src/projections/definitions/click-rank.ts";

describe("the rank of a link by clicks", () => {
  it("never falls while the number of clicks grows, and is the number itself below 16", () => {
    const ranks = Array.from({ length: 5_000 }, (_, clicks) => clickRank(clicks));
    expect(ranks.slice(0, 16)).toEqual(Array.from({ length: 16 }, (_, clicks) => clicks));
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.nat(2 ** 40), (a, b) => {
        expect(clickRank(Math.min(a, b))).toBeLessThanOrEqual(clickRank(Math.max(a, b)));
      }),
    );
  });

  it("changes fewer than 150 times in the first million clicks", () => {
    expect(clickRank(1_000_000)).toBeLessThan(150);
    const changes = new Set(Array.from({ length: 20_000 }, (_, n) => clickRank(980_000 + n)));
    expect(changes.size).toBeLessThanOrEqual(2);
  });
});
