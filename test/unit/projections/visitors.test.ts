// Distinct visitors of a day: exact while they are few, then estimated within a few per cent, always in a bounded text.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { countVisitors, MAX_CODES, withVisitor } from "../../../src/projections/definitions/days/visitors.ts";
import { effort } from "../../support/runtime/effort.ts";

const code = (n: number, group = "visitor") =>
  createHash("sha256").update(`${group} ${n}`).digest("hex").slice(0, 16);
const all = (from: number, to: number, group?: string) => {
  let visitors = "";
  for (let n = from; n < to; n++) visitors = withVisitor(visitors, code(n, group));
  return visitors;
};

describe("visitors of a day", () => {
  it("are counted exactly while they are few, whoever comes again", () => {
    let visitors = "";
    for (let n = 0; n < 3 * MAX_CODES; n++) {
      visitors = withVisitor(visitors, code(n % MAX_CODES));
      const expected = { visitors: Math.min(n + 1, MAX_CODES), estimated: false };
      if (n % 50 === 0) expect(countVisitors([visitors], Infinity)).toEqual(expected);
    }
    expect(countVisitors([visitors], Infinity)).toEqual({ visitors: MAX_CODES, estimated: false });
  });

  it("are none where it is not known who they were", () => {
    expect(withVisitor("", "")).toBe("");
    expect(withVisitor(all(0, 3), "")).toBe(all(0, 3));
    expect(countVisitors([], 0)).toEqual({ visitors: 0, estimated: false });
  });

  it("are told apart also where a code begins within another", () => {
    const visitors = withVisitor(withVisitor("", "aaaaabbbbb000000"), "bbbbbccccc000000");
    expect(countVisitors([withVisitor(visitors, "bbbbbbbbbb000000")], 3).visitors).toBe(3);
  });

  it("are estimated within 7 % (three standard errors) beyond that, in at most 2,560 characters", {
    timeout: 120_000,
  }, () => {
    for (const count of [257, 1_000, 3_000, 10_000, effort(60_000, 1_000_000)]) {
      for (const group of ["a", "b", "c"]) {
        const visitors = all(0, count, group);
        const { visitors: found, estimated } = countVisitors([visitors], Infinity);
        expect(estimated).toBe(true);
        expect(Math.abs(found - count) / count, `${found} of ${count}`).toBeLessThan(0.07);
        expect(visitors.length).toBeLessThanOrEqual(10 * MAX_CODES);
        expect(withVisitor(visitors, code(count - 1, group))).toBe(visitors);
      }
    }
  });

  it("are never more than the hits that they made, however many an estimate says", () => {
    const counts = Array.from({ length: 60 }, (_, n) => MAX_CODES + 1 + 7 * n);
    const estimates = counts.map((count) => countVisitors([all(0, count)], Infinity).visitors - count);
    expect(Math.max(...estimates)).toBeGreaterThan(0);
    for (const count of counts)
      expect(countVisitors([all(0, count)], count).visitors).toBeLessThanOrEqual(count);
  });

  it("of several kinds are those of any: exact sets exactly, sketches by their larger registers", () => {
    expect(countVisitors([all(0, 200), all(100, 300)], Infinity)).toEqual({
      visitors: 300,
      estimated: false,
    });
    const { visitors, estimated } = countVisitors([all(0, 4_000), all(2_000, 6_000), all(0, 100)], Infinity);
    expect(estimated).toBe(true);
    expect(visitors).toBe(countVisitors([all(0, 6_000)], Infinity).visitors);
  });
});
