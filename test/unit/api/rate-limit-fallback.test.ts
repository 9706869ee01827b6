// Rate limits while the shared windows are unavailable: they continue, and no caller gets a new window.
import { beforeEach, describe, expect, it } from "vitest";
import { memoryRateLimits, withOwnLimits } from "../../../src/api/limits/rate-limit.memory.ts";
import type { RateLimits } from "../../../src/api/limits/rate-limit.ts";
import { CoordinationUnavailable } from "../../../src/connections/errors.ts";

const now = new Date("2026-05-01T12:00:00.000Z");

describe("rate limits with shared windows that may be unavailable", () => {
  let unavailable: boolean;
  let limits: RateLimits;
  let other: RateLimits;

  beforeEach(() => {
    unavailable = false;
    const shared = memoryRateLimits();
    const sometimes: RateLimits = {
      take: async (...request) => (unavailable ? refuse() : shared.take(...request)),
    };
    limits = withOwnLimits(sometimes, memoryRateLimits());
    other = withOwnLimits(sometimes, memoryRateLimits());
  });

  const used = async (of: RateLimits) => (await of.take("key a", 3, now, 0)).used;

  it("count once for all processes while they are there", async () => {
    await limits.take("key a", 3, now);
    await other.take("key a", 3, now);
    expect([await used(limits), await used(other)]).toEqual([2, 2]);
    expect((await limits.take("key a", 3, now)).granted).toBe(true);
    expect((await other.take("key a", 3, now)).granted).toBe(false);
  });

  it("go on in each process while they are unavailable, from what it had granted itself", async () => {
    await limits.take("key a", 3, now);
    unavailable = true;
    expect([await used(limits), await used(other)]).toEqual([1, 0]);
    await limits.take("key a", 3, now);
    expect((await limits.take("key a", 3, now)).granted).toBe(true);
    expect((await limits.take("key a", 3, now)).granted).toBe(false);
    expect((await other.take("key a", 3, now)).granted).toBe(true);
    unavailable = false;
    expect(await used(limits)).toBe(1);
  });

  it("do not hide any other error", async () => {
    const broken: RateLimits = { take: () => Promise.reject(new TypeError("x")) };
    await expect(withOwnLimits(broken, memoryRateLimits()).take("key a", 3, now)).rejects.toThrow(TypeError);
  });
});

async function refuse(): Promise<never> {
  throw new CoordinationUnavailable("unavailable");
}
