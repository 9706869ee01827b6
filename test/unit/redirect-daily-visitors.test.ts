// The day's salt: one for all processes, a new one each day, none left behind, and no click held up for it.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dailyVisitors } from "../../src/redirect/daily-visitors.ts";
import type { Secrets } from "../../src/secrets/port.ts";
import { openSqliteSecrets } from "../../src/secrets/sqlite.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const NOON = Date.UTC(2026, 4, 1, 12);
const HOUR = 3_600_000;
const visit = { address: "203.0.113.9", userAgent: "curl/8", link: "localhost/abcdefg" };

describe("the visitor codes of a day", () => {
  let folder: TemporaryFolder;
  let secrets: Secrets;
  let now: number;

  beforeEach(async () => {
    folder = await temporaryFolder();
    secrets = await openSqliteSecrets(join(folder.path, "secrets.db"));
    now = NOON;
  });
  afterEach(async () => {
    await secrets.close();
    await folder.remove();
  });

  /** One process's codes, as a function of the time of the hit. */
  function processOf(store: Secrets = secrets) {
    const visitors = dailyVisitors({
      secrets: store,
      clock: () => new Date(now),
      sleep: async (ms) => {
        // Time that a lost answer is waited for passes; an answer that is there comes first.
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        if (ms > 0) await new Promise(setImmediate);
      },
      randomBytes,
    });
    return async (at = now) => (await visitors(at))(visit);
  }

  const saltKey = (day: string) => secrets.get(`visitor-salt/${day}`, new Date(now));

  it("are the same in two processes, and after one starts again", async () => {
    const first = await processOf()();
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(await processOf()()).toBe(first);
  });

  it("are others the next day, and come from a salt that is new", async () => {
    const codes = processOf();
    const today = await codes();
    expect(await saltKey("20260501")).toHaveLength(44);
    now += 12 * HOUR;
    expect(await codes()).not.toBe(today);
    expect(await saltKey("20260502")).not.toBe(await saltKey("20260501"));
  });

  it("can't be made again once their day is over: the salt is destroyed", async () => {
    const codes = processOf();
    const today = await codes();
    now += 12 * HOUR;
    await codes();
    expect(await secrets.get("visitor-salt/20260501", new Date(NOON))).toBeUndefined();
    expect(await processOf()(NOON)).not.toBe(today);
  });

  it("stay the same for hits that are still in line after midnight, for one day", async () => {
    const codes = processOf();
    const today = await codes();
    now += 13 * HOUR;
    await codes();
    expect(await codes(NOON)).toBe(today);
    now += 24 * HOUR;
    await codes();
    expect(await codes(NOON)).not.toBe(today);
  });

  it("split a day by its end in UTC", async () => {
    const codes = processOf();
    const midnight = Date.UTC(2026, 4, 2);
    expect(await codes(midnight - 1)).toBe(await codes(NOON));
    expect(await codes(midnight)).not.toBe(await codes(NOON));
  });

  describe("while secrets are away", () => {
    it.each([
      ["refuse", () => Promise.reject(new Error("away"))],
      ["don't answer", () => new Promise<never>(() => undefined)],
    ])("and %s, come from a salt of the process that is everybody's afterwards", async (_how, fails) => {
      let asked = 0;
      const away: Secrets = Object.assign(Object.create(secrets), {
        putIfAbsent: () => {
          asked++;
          return fails();
        },
      });
      const codes = processOf(away);
      const code = await codes();
      expect(await codes()).toBe(code);
      expect(asked).toBe(1);
      now += 5_000;
      expect(await codes()).toBe(code);
      expect(asked).toBe(2);
      away.putIfAbsent = (...request) => secrets.putIfAbsent(...request);
      now += 5_000;
      expect(await codes()).toBe(code);
      expect(await processOf()()).toBe(code);
    });

    it("change to the salt that others had before, once it can be read", async () => {
      const others = await processOf()();
      const away: Secrets = Object.assign(Object.create(secrets), {
        putIfAbsent: () => Promise.reject(new Error("away")),
      });
      const codes = processOf(away);
      expect(await codes()).not.toBe(others);
      away.putIfAbsent = (...request) => secrets.putIfAbsent(...request);
      now += 5_000;
      expect(await codes()).toBe(others);
    });
  });
});
