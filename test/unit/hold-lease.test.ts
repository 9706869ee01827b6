// Taking turns: one works, another takes over when the first falls silent, and nobody works without a lease.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HoldLeaseDeps, holdLease } from "../../src/coordination/hold-lease.ts";
import { memoryLeases } from "../../src/coordination/leases.memory.ts";
import type { Leases } from "../../src/coordination/leases.ts";

const silent = { info: () => undefined, warn: () => undefined };
const FAST = { name: "projector", ttlMs: 300, renewEveryMs: 50, askEveryMs: 20, log: silent };

describe("holding a lease", () => {
  let leases: Leases;
  let stop: AbortController;
  let running: Promise<void>[];
  let working: string[];

  beforeEach(() => {
    leases = memoryLeases(() => performance.now());
    stop = new AbortController();
    running = [];
    working = [];
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
  });

  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve()),
    );
  const worker = (holder: string) => async (signal: AbortSignal) => {
    working.push(holder);
    await untilAborted(signal);
    working = working.filter((other) => other !== holder);
  };
  const start = (holder: string, more: Partial<HoldLeaseDeps> = {}, work = worker(holder)) => {
    running.push(holdLease({ ...FAST, leases, holder, ...more }, work, stop.signal));
  };
  /** The same leases, until the switch is off: as a process that is cut off, or dead, would see them. */
  const cuttable = () => {
    const link = { up: true };
    const through = <T>(ask: () => Promise<T>) => (link.up ? ask() : Promise.reject(new Error("cut off")));
    const cut: Leases = {
      acquire: (...request) => through(() => leases.acquire(...request)),
      renew: (...request) => through(() => leases.renew(...request)),
      release: (...request) => through(() => leases.release(...request)),
    };
    return { link, leases: cut };
  };

  it("lets one of two work, for longer than a lease lasts", async () => {
    start("a");
    await expect.poll(() => working).toEqual(["a"]);
    start("b");
    await new Promise((resolve) => setTimeout(resolve, FAST.ttlMs * 3));
    expect(working).toEqual(["a"]);
  });

  it("stops the work of one that can't renew before another begins, and tells why once", async () => {
    const { link, leases: cut } = cuttable();
    const told: string[] = [];
    const log = { info: (text: string) => told.push(text), warn: (text: string) => told.push(text) };
    start("a", { leases: cut, log });
    await expect.poll(() => working).toEqual(["a"]);
    const seen: string[][] = [];
    const work = async (signal: AbortSignal) => {
      seen.push([...working]);
      await worker("b")(signal);
    };
    start("b", {}, work);
    link.up = false;
    await expect.poll(() => working, { timeout: 5_000 }).toEqual(["b"]);
    expect(seen).toEqual([[]]);
    await expect.poll(() => told.length).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(told).toEqual([
      "projector works here",
      "projector could not renew its lease in time",
      "projector can't be asked for its lease: cut off",
    ]);
  });

  it("goes on through an outage that is shorter than the lease", async () => {
    const { link, leases: cut } = cuttable();
    let begun = 0;
    start("a", { leases: cut, ttlMs: 1_000 }, async (signal) => {
      begun += 1;
      await untilAborted(signal);
    });
    await expect.poll(() => begun).toBe(1);
    link.up = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
    link.up = true;
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(begun).toBe(1);
  });

  it("stops work that hangs on a lease store that never answers", async () => {
    const hanging: Leases = { ...leases, renew: () => new Promise(() => undefined) };
    start("a", { leases: hanging });
    await expect.poll(() => working).toEqual(["a"]);
    await expect.poll(() => working, { timeout: 5_000 }).toEqual([]);
  });

  it("frees the lease at once when it is told to stop", async () => {
    const own = new AbortController();
    const first = holdLease({ ...FAST, leases, holder: "a", ttlMs: 60_000 }, worker("a"), own.signal);
    await expect.poll(() => working).toEqual(["a"]);
    start("b");
    own.abort();
    await first;
    await expect.poll(() => working).toEqual(["b"]);
  });

  it("tries again when the work fails", async () => {
    let tries = 0;
    start("a", {}, async (signal) => {
      tries += 1;
      if (tries < 3) throw new Error("no");
      await untilAborted(signal);
    });
    await expect.poll(() => tries).toBe(3);
  });
});
