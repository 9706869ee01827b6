// The limit on concurrent password hashing under overload.
import { describe, expect, it } from "vitest";
import { passwordWork } from "../../../src/commands/password-work.ts";

/** Work that ends with `endAll`; `ends`: functions that end the work in progress. */
function held() {
  const ends: (() => void)[] = [];
  return {
    ends,
    async endAll() {
      for (const end of ends.splice(0)) end();
      await new Promise(setImmediate);
    },
    work: () => new Promise<string>((resolve) => ends.push(() => resolve("done"))),
  };
}

describe("hashing passwords", () => {
  it("hashes two unknown passwords at a time, lets 50 wait, and refuses the next", async () => {
    const { unknown } = passwordWork();
    const { ends, endAll, work } = held();
    const requests = Array.from({ length: 60 }, () => unknown(work));
    const settled = Promise.allSettled(requests);
    await Promise.allSettled(requests.slice(-1));
    expect(ends).toHaveLength(2);
    while (ends.length > 0) {
      await endAll();
      expect(ends.length).toBeLessThanOrEqual(2);
    }
    const outcomes = await settled;
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(8);
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(50);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: "too_busy" });
  });

  it("takes an owner while strangers fill everything", async () => {
    const { known, unknown } = passwordWork();
    const flood = held();
    const strangers = Promise.allSettled(Array.from({ length: 60 }, () => unknown(flood.work)));
    expect(await known(async () => "let in")).toBe("let in");
    while (flood.ends.length > 0) await flood.endAll();
    await strangers;
  });
});
