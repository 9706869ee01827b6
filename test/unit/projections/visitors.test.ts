// Distinct visitors of a day: exact while they are few, then estimated within a few per cent, always in a bounded text.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  countVisitors,
  MOST_CODES,
  shortCode,
  visitorsOf,
} from "../../../src/projections/definitions/summaries/visitors.ts";
import { effort } from "../../support/runtime/effort.ts";

const code = (n: number, group = "visitor") =>
  shortCode(createHash("sha256").update(`${group} ${n}`).digest("hex").slice(0, 16));
const all = (from: number, to: number, group?: string) =>
  visitorsOf(Array.from({ length: to - from }, (_, n) => code(from + n, group)));

describe("visitors of a day", () => {
  it("are counted exactly while they are few", () => {
    for (const count of [0, 1, 300, MOST_CODES])
      expect(countVisitors([all(0, count)], Infinity)).toEqual({ visitors: count, estimated: false });
  });

  it("are none where it is not known who they were", () => {
    expect(shortCode("")).toBe("");
    expect(countVisitors([], 0)).toEqual({ visitors: 0, estimated: false });
  });

  it("are told apart also where a code begins within another", () => {
    const codes = ["aaaaabbbbb000000", "bbbbbccccc000000", "bbbbbbbbbb000000"].map(shortCode);
    expect(countVisitors([visitorsOf(codes), visitorsOf(codes.slice(1))], 3).visitors).toBe(3);
  });

  it("are estimated within 7 % (three standard errors) beyond that, in a text that does not grow", {
    timeout: 120_000,
  }, () => {
    for (const count of [MOST_CODES + 1, 10_000, effort(60_000, 1_000_000)])
      for (const group of ["a", "b", "c"]) {
        const visitors = all(0, count, group);
        const { visitors: found, estimated } = countVisitors([visitors], Infinity);
        expect(estimated).toBe(true);
        expect(Math.abs(found - count) / count, `${found} of ${count}`).toBeLessThan(0.07);
        expect(visitors.length).toBeLessThanOrEqual(10 * MOST_CODES);
      }
  });

  it("are never more than the hits that they made, however many an estimate says", () => {
    const counts = Array.from({ length: 40 }, (_, n) => MOST_CODES + 1 + 97 * n);
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
    const { visitors, estimated } = countVisitors([all(0, 6_000), all(4_000, 12_000), all(0, 100)], Infinity);
    expect(estimated).toBe(true);
    expect(visitors).toBe(countVisitors([all(0, 12_000)], Infinity).visitors);
  });
});
