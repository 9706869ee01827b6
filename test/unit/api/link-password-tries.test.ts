// Wrong passwords of links: how many an address and a link may have in an hour.
import { describe, expect, it } from "vitest";
import { isRefused } from "../../../src/commands/refusals.ts";
import { linkPasswordTries } from "../../../src/limits/link-password-tries.ts";
import { rateLimits } from "../../../src/limits/rate-limit.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";

const LINK = "localhost/abc";

function start() {
  let now = Date.parse("2026-05-01T12:00:00Z");
  const tries = linkPasswordTries({ rateLimits: rateLimits(ownCounts()), clock: () => new Date(now) });
  const isRefusedNow = (address: string, link = LINK) =>
    tries.take(address, link).then(
      () => tries.giveBack(address, link).then(() => false),
      (error: unknown) => isRefused(error, "rate_limit_exceeded"),
    );
  const wrong = async (times: number, addressOf: (n: number) => string, link = LINK) => {
    for (let n = 0; n < times; n++) await tries.take(addressOf(n), link);
  };
  const later = (ms: number) => {
    now += ms;
  };
  return { isRefusedNow, wrong, later };
}

describe("wrong passwords of links", () => {
  it("are sixty an hour of one address, an IPv6 network being one, whatever the link", async () => {
    const { isRefusedNow, wrong, later } = start();
    await wrong(59, (n) => `2001:db8::${n + 1}`, "localhost/other");
    expect(await isRefusedNow("2001:db8::99")).toBe(false);
    await wrong(1, () => "2001:db8::ff");
    expect(await isRefusedNow("2001:db8::99")).toBe(true);
    expect(await isRefusedNow("2001:db8:0:1::1")).toBe(false);
    later(3_600_000);
    expect(await isRefusedNow("2001:db8::99")).toBe(false);
  });

  it("are a thousand an hour of one link, from whatever addresses", async () => {
    const { isRefusedNow, wrong } = start();
    const spread = (n: number) => `198.51.${n >> 8}.${n & 255}`;
    await wrong(999, spread);
    expect(await isRefusedNow("203.0.113.1")).toBe(false);
    await wrong(1, () => "203.0.113.2");
    expect(await isRefusedNow("203.0.113.1")).toBe(true);
    expect(await isRefusedNow("203.0.113.1", "localhost/other")).toBe(false);
  });
});
