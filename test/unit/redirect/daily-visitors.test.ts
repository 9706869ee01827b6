// The day's salt: one for all processes, a new one each day, none left behind, and no click held up for it.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileDailySalts } from "../../../src/redirect/clicks/visitors/daily-salts.files.ts";
import type { DailySalts } from "../../../src/redirect/clicks/visitors/daily-salts.ts";
import { dailyVisitors } from "../../../src/redirect/clicks/visitors/daily-visitors.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const NOON = Date.UTC(2026, 4, 1, 12);
const HOUR = 3_600_000;
const MINUTE = 60_000;
const visit = { address: "203.0.113.9", userAgent: "curl/8", of: "localhost/abcdefg" };

describe("the visitor codes of a day", () => {
  let folder: TemporaryFolder;
  let salts: DailySalts;
  let now: number;
  /** By how much the clock was set back; `now` goes on. */
  let setBackMs: number;
  let logged: unknown[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    salts = fileDailySalts(folder.path);
    now = NOON;
    setBackMs = 0;
    logged = [];
  });
  afterEach(() => folder.remove());

  function visitorsOf(store: DailySalts = salts) {
    return dailyVisitors({
      salts: store,
      clock: () => new Date(now - setBackMs),
      now: () => now,
      sleep: async (ms) => {
        // Time that a lost answer is waited for passes; an answer that is there comes first.
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        if (ms > 0) await new Promise(setImmediate);
      },
      randomBytes,
      log: { error: (fields: unknown) => void logged.push(fields) },
    });
  }

  /** One process's codes, as a function of the time of the hit. */
  function processOf(store: DailySalts = salts) {
    const visitors = visitorsOf(store);
    return async (at = now) => (await visitors.codesAt(at))(visit);
  }

  const saltFiles = async () => (await readdir(folder.path)).filter((name) => /^\d/.test(name));

  it("are the same in two processes, and after one starts again", async () => {
    const first = await processOf()();
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(await processOf()()).toBe(first);
  });

  it("are others the next day, and come from a salt that is new", async () => {
    const codes = processOf();
    const today = await codes();
    const salt = await readFile(join(folder.path, "20260501"), "utf8");
    expect(salt).toHaveLength(44);
    now += 12 * HOUR;
    expect(await codes()).not.toBe(today);
    expect(await readFile(join(folder.path, "20260502"), "utf8")).not.toBe(salt);
  });

  it("can't be made again once their day is over, though nobody clicks: the salt is destroyed", async () => {
    const visitors = visitorsOf();
    const today = (await visitors.codesAt(now))(visit);
    expect(await saltFiles()).toEqual(["20260501"]);
    now += 12 * HOUR;
    await visitors.sweep();
    expect(await saltFiles()).toEqual([]);
    expect(await processOf()(NOON)).not.toBe(today);
    expect(await saltFiles()).toEqual([]);
  });

  it("stay the same for hits that are still in line after midnight, for ten minutes", async () => {
    const codes = processOf();
    const today = await codes();
    now += 12 * HOUR + 9 * MINUTE;
    expect(await codes(NOON)).toBe(today);
    now += MINUTE;
    expect(await codes(NOON)).not.toBe(today);
  });

  describe("after the salts' store was emptied, as a Redis that keeps nothing on disk", () => {
    const emptied = async () => {
      for (const name of await saltFiles()) await rm(join(folder.path, name));
    };

    it("are the same in a process that starts a minute later", async () => {
      const visitors = visitorsOf();
      const before = (await visitors.codesAt(now))(visit);
      await emptied();
      await visitors.sweep();
      expect(await processOf()()).toBe(before);
      expect((await visitors.codesAt(now))(visit)).toBe(before);
    });

    it("leave no salt behind when the day has ended meanwhile", async () => {
      const visitors = visitorsOf();
      await visitors.codesAt(now);
      await emptied();
      now += 12 * HOUR;
      await visitors.sweep();
      expect(await saltFiles()).toEqual([]);
    });
  });

  it("are said to be traceable while a salt can't be destroyed, which is tried again; others are", async () => {
    const visitors = visitorsOf();
    for (const day of ["20260428", "20260429", "20260430"])
      await writeFile(join(folder.path, day), randomBytes(32).toString("base64"));
    await rm(join(folder.path, "20260429"));
    await mkdir(join(folder.path, "20260429"));
    for (const _ of [1, 2]) await visitors.sweep();
    expect(visitors.problem).toMatch(/^of ended days can't be destroyed.*EISDIR/);
    expect(logged).toHaveLength(1);
    expect(await saltFiles()).toEqual(["20260429"]);
    await rm(join(folder.path, "20260429"), { recursive: true });
    await visitors.sweep();
    expect(visitors.problem).toBeUndefined();
  });

  describe("while the salts' store is unavailable", () => {
    it.each([
      ["refuse", () => Promise.reject(new Error("away"))],
      ["don't answer", () => new Promise<never>(() => undefined)],
      ["answer what is no salt, such as an emptied file", async () => ""],
    ])("and %s, come from a salt of the process that is everybody's afterwards", async (_how, fails) => {
      let asked = 0;
      const away: DailySalts = Object.assign(Object.create(salts), {
        agree: () => {
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
      away.agree = (...request) => salts.agree(...request);
      now += 5_000;
      expect(await codes()).toBe(code);
      expect(await processOf()()).toBe(code);
    });

    /** A process that had a salt of its own and can now reach those of the others again. */
    async function reconnected() {
      const others = await processOf()();
      const away: DailySalts = Object.assign(Object.create(salts), {
        agree: () => Promise.reject(new Error("away")),
      });
      const codes = processOf(away);
      expect(await codes()).not.toBe(others);
      away.agree = (...request) => salts.agree(...request);
      return { others, codes };
    }

    it("change to the salt that others had before, once it can be read", async () => {
      const { others, codes } = await reconnected();
      now += 5_000;
      expect(await codes()).toBe(others);
    });
  });
});
