// Rate limit windows: which requests share one, that memory is bounded, and what holds while shared ones are unavailable.
import { beforeEach, describe, expect, it } from "vitest";
import { byAddress, type RateLimits, rateLimits, WINDOW_MS } from "../../../src/limits/rate-limit.ts";
import { addressOf } from "../../../src/runtime/addresses/networks.ts";
import { CoordinationUnavailable } from "../../../src/stores/connections/errors.ts";
import type { Counts } from "../../../src/stores/counts/counts.ts";
import { ownCounts, withOwnCounts } from "../../../src/stores/counts/own-counts.ts";

describe("rate windows", () => {
  const start = Date.parse("2026-01-01T00:00:00Z");

  it("ends a full window after an hour, where the clock was set back by a day meanwhile", async () => {
    const limits = rateLimits(ownCounts());
    await limits.take("a", 1, new Date(start + 86_400_000));
    expect((await limits.take("a", 1, new Date(start))).granted).toBe(false);
    expect((await limits.take("a", 1, new Date(start + WINDOW_MS))).granted).toBe(true);
  });

  it("keeps no more subjects than it may", async () => {
    const at = new Date(start);
    const limits = rateLimits(ownCounts(10));
    for (let n = 0; n < 100; n++) await limits.take(`subject ${n}`, 5, at);
    expect(await limits.take("subject 0", 5, at, 0)).toMatchObject({ used: 0 });
    expect(await limits.take("subject 99", 5, at, 0)).toMatchObject({ used: 1 });
  });

  it("keeps each kind of subject for itself, so that a flood of one evicts no window of another", async () => {
    const at = new Date(start);
    const limits = rateLimits(ownCounts(10));
    const others = ["key 1", "sign-in-account a", "qr 192.0.2.1"];
    for (const subject of others) await limits.take(subject, 5, at);
    for (let n = 0; n < 100; n++) await limits.take(`address 198.51.100.${n}`, 5, at);
    for (const subject of others)
      expect([subject, (await limits.take(subject, 5, at, 0)).used]).toEqual([subject, 1]);
  });

  it("grants each IPv6 /64 its own limit, however much the others of its /48 have sent", async () => {
    const at = new Date(start);
    const limits = rateLimits(ownCounts());
    const take = (network: number) =>
      limits.take(byAddress("address", `2001:db8:1:${network.toString(16)}::1`), 2, at);
    for (let n = 0; n < 256; n++) for (const _ of [1, 2]) await take(n);
    expect(await take(255)).toMatchObject({ granted: false, used: 2 });
    expect(await take(256)).toMatchObject({ granted: true, used: 1 });
  });

  it("counts an IPv6 network of /64 as one address, and an IPv4 address the same in either notation", () => {
    expect(addressOf("2001:db8:1:2:3:4:5:6")).toBe(addressOf("2001:db8:1:2::9"));
    expect(addressOf("2001:db8:1:2::1")).not.toBe(addressOf("2001:db8:1:3::1"));
    expect(addressOf("2001:db8::1")).toBe(addressOf("2001:db8:0:0:ffff::"));
    expect(addressOf("::ffff:203.0.113.7")).toBe(addressOf("203.0.113.7"));
    expect(addressOf("::ffff:cb00:7107")).toBe(addressOf("203.0.113.7"));
    expect(addressOf("fe80::1%eth0")).toBe(addressOf("fe80::2%eth0"));
    expect(addressOf("")).toBe("");
  });
});

const now = new Date("2026-05-01T12:00:00.000Z");

describe("rate limits with shared windows that may be unavailable", () => {
  let unavailable: boolean;
  let limits: RateLimits;
  let other: RateLimits;

  beforeEach(() => {
    unavailable = false;
    const shared = ownCounts();
    const sometimes: Counts = {
      count: async (...step) => (unavailable ? refuse() : shared.count(...step)),
      close: shared.close,
    };
    limits = rateLimits(withOwnCounts(sometimes, ownCounts()));
    other = rateLimits(withOwnCounts(sometimes, ownCounts()));
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
    const broken: Counts = { ...ownCounts(), count: () => Promise.reject(new TypeError("x")) };
    const limited = rateLimits(withOwnCounts(broken, ownCounts()));
    await expect(limited.take("key a", 3, now)).rejects.toThrow(TypeError);
  });
});

async function refuse(): Promise<never> {
  throw new CoordinationUnavailable("unavailable");
}
