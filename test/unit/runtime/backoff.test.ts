// Backoff: doubled, bounded, and with jitter.
import { expect, it } from "vitest";
import { backoffMs } from "../../../src/runtime/keep-trying.ts";

const LIMITS = { fromMs: 250, toMs: 15_000 };

it("doubles the pause with each failure in a row, up to its limit", () => {
  const longest = [1, 2, 3, 4, 7, 8, 2_000].map((failures) => backoffMs(failures, LIMITS, () => 1));
  expect(longest).toEqual([250, 500, 1_000, 2_000, 15_000, 15_000, 15_000]);
});

it("subtracts a random part of up to half of it", () => {
  expect([0, 0.5, 1].map((random) => backoffMs(3, LIMITS, () => random))).toEqual([500, 750, 1_000]);
});
