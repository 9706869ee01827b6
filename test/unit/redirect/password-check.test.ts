// Checks of link passwords that come all at once: how many are hashed, how many count, and which right ones are kept.
import { describe, expect, it } from "vitest";
import { passwordWork } from "../../../src/commands/password-work.ts";
import { isRefused } from "../../../src/commands/refusals.ts";
import { linkPasswordTries } from "../../../src/limits/link-password-tries.ts";
import { rateLimits } from "../../../src/limits/rate-limit.ts";
import { passwordCheck } from "../../../src/redirect/password/password-check.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";

const LINK = { link: "localhost/abc", passwordId: "p" };
const RIGHT = "right";

function start(isPassword = async (given: string): Promise<boolean | undefined> => given === RIGHT) {
  let hashed = 0;
  const tries = linkPasswordTries({ rateLimits: rateLimits(ownCounts()), clock: () => new Date(0) });
  const check = passwordCheck({
    async isPassword(_, given) {
      hashed++;
      await new Promise(setImmediate);
      return await isPassword(given);
    },
    hashing: passwordWork().visitors,
    tries,
    key: new Uint8Array(32),
  });
  const outcome = (address: string, password: string, of = LINK) =>
    check(of, address, password).catch((error: unknown) =>
      isRefused(error, "rate_limit_exceeded", "too_busy") ? error.code : Promise.reject(error),
    );
  return { check, tries, outcome, hashed: () => hashed };
}

const counted = (outcomes: readonly unknown[]) => Object.groupBy(outcomes, String);

describe("passwords of a link", () => {
  it("are tried sixty times an hour by one address, however many it sends at once", async () => {
    const { outcome, hashed } = start();
    const outcomes: unknown[] = [];
    for (let round = 0; round < 30; round++)
      outcomes.push(
        ...(await Promise.all(Array.from({ length: 12 }, (_, n) => outcome("203.0.113.9", `${round} ${n}`)))),
      );
    const { false: wrong = [], too_busy: busy = [] } = counted(outcomes);
    expect([wrong.length, hashed()]).toEqual([60, 60]);
    expect(busy.length).toBeGreaterThanOrEqual(8);
    expect(await outcome("203.0.113.9", RIGHT)).toBe("rate_limit_exceeded");
    expect(await outcome("203.0.113.10", RIGHT)).toBe(true);
  });

  it("that are right are hashed once, for whoever sends them next or at once, and count for nothing", async () => {
    const { outcome, hashed } = start();
    const room = await Promise.all(Array.from({ length: 120 }, () => outcome("203.0.113.9", RIGHT)));
    expect([new Set(room), hashed()]).toEqual([new Set([true]), 1]);
    for (let n = 0; n < 100; n++) expect(await outcome("203.0.113.9", RIGHT)).toBe(true);
    expect(await outcome("198.51.100.1", RIGHT)).toBe(true);
    expect(hashed()).toBe(1);
    expect(await outcome("198.51.100.1", RIGHT, { ...LINK, passwordId: "q" })).toBe(true);
    expect(hashed()).toBe(2);
  });

  it("wait in a small number for one link, and leave room for others", async () => {
    const { outcome } = start();
    const flood = Array.from({ length: 40 }, (_, n) => outcome(`203.0.113.${n}`, `wrong ${n}`));
    expect(await outcome("198.51.100.1", RIGHT, { link: "localhost/other", passwordId: "q" })).toBe(true);
    const { false: wrong = [], too_busy: busy = [] } = counted(await Promise.all(flood));
    expect([wrong.length, busy.length]).toEqual([16, 24]);
  });

  it("can't be looked at while the secrets are unavailable, which opens nothing and counts no try", async () => {
    const { check, tries } = start(() => Promise.reject(new StoreUnavailable("away")));
    for (let n = 0; n < 70; n++)
      await expect(check(LINK, "203.0.113.9", `${n}`)).rejects.toThrow(StoreUnavailable);
    await tries.take("203.0.113.9", LINK.link);
  });
});
