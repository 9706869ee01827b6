// Taking turns: one works, another takes over when the first falls silent, and nobody works without a lease.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HoldLeaseDeps, holdLease } from "../../../src/stores/coordination/hold-lease.ts";
import { memoryLeases } from "../../../src/stores/coordination/leases.memory.ts";
import type { Leases } from "../../../src/stores/coordination/leases.ts";
import { type ManualTime, manualTime } from "../../support/runtime/manual-time.ts";

const silent = { info: () => undefined, warn: () => undefined };
const TTL_MS = 3_000;

describe("holding a lease", () => {
  let time: ManualTime;
  let leases: Leases;
  let stop: AbortController;
  let running: Promise<void>[];
  let working: string[];

  beforeEach(() => {
    time = manualTime();
    leases = memoryLeases(time.now);
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
  const start = (
    holder: string,
    more: Partial<HoldLeaseDeps> = {},
    work = worker(holder),
    signal = stop.signal,
  ) => {
    const { now, sleep } = time;
    const deps = { name: "projector", ttlMs: TTL_MS, log: silent, now, sleep, leases, holder, ...more };
    const one = holdLease(deps, work, signal);
    running.push(one);
    return one;
  };
  const worksAlone = (holder: string) => () => working.length === 1 && working[0] === holder;
  /** The same leases, until the switch is off: as a process that is cut off, or dead, would see them. */
  const cuttable = () => {
    const link = { up: true };
    const through = <T>(ask: () => Promise<T>) => (link.up ? ask() : Promise.reject(new Error("cut off")));
    const cut: Leases = {
      hold: (...request) => through(() => leases.hold(...request)),
      release: (...request) => through(() => leases.release(...request)),
    };
    return { link, leases: cut };
  };
  const collected = () => {
    const lines: string[] = [];
    const note = (first: unknown, second?: string) =>
      void lines.push(
        typeof first === "string" ? first : `${second}: ${(first as { err: Error }).err.message}`,
      );
    return { lines, log: { info: note, warn: note } as HoldLeaseDeps["log"] };
  };

  it("lets one of two work, for longer than a lease lasts", async () => {
    start("a");
    await time.until(worksAlone("a"));
    start("b");
    await time.pass(TTL_MS * 10);
    expect(working).toEqual(["a"]);
  });

  it("stops the work of one that can't renew before another begins, and logs why once", async () => {
    const { link, leases: cut } = cuttable();
    const { lines, log } = collected();
    start("a", { leases: cut, log });
    await time.until(worksAlone("a"));
    const seen: string[][] = [];
    start("b", {}, async (signal) => {
      seen.push([...working]);
      await worker("b")(signal);
    });
    link.up = false;
    await time.until(worksAlone("b"), TTL_MS + 1_000);
    expect(seen).toEqual([[]]);
    await time.pass(60_000);
    expect(lines).toEqual([
      "started: projector",
      "projector could not renew its lease in time: cut off",
      "projector could not request its lease: cut off",
    ]);
  });

  it.each([
    ["request", 0],
    ["renewal", 1],
  ])("counts a lease from its %s on, however late the answer comes", async (_, slow) => {
    let asked = 0;
    const slowThenCut: Leases = {
      ...leases,
      async hold(...request) {
        asked += 1;
        if (asked > slow + 1) throw new Error("cut off");
        const isHeld = await leases.hold(...request);
        if (asked === slow + 1) await time.sleep(TTL_MS / 2);
        return isHeld;
      },
      release: () => Promise.reject(new Error("cut off")),
    };
    start("a", { leases: slowThenCut });
    await time.until(worksAlone("a"));
    const seen: string[][] = [];
    start("b", {}, async (signal) => {
      seen.push([...working]);
      await worker("b")(signal);
    });
    await time.until(worksAlone("b"), TTL_MS * 2);
    expect(seen).toEqual([[]]);
  });

  it("logs each outage once that it meets while another works", async () => {
    const { link, leases: cut } = cuttable();
    const { lines, log } = collected();
    start("a");
    await time.until(worksAlone("a"));
    start("b", { leases: cut, log });
    for (const up of [false, true, false]) {
      link.up = up;
      await time.pass(TTL_MS);
    }
    expect(lines).toEqual(Array(2).fill("projector could not request its lease: cut off"));
  });

  it("goes on through an outage that is shorter than the lease", async () => {
    const { link, leases: cut } = cuttable();
    const { lines, log } = collected();
    start("a", { leases: cut, log });
    await time.until(worksAlone("a"));
    link.up = false;
    await time.pass(TTL_MS / 2);
    link.up = true;
    await time.pass(TTL_MS * 3);
    expect([working, lines]).toEqual([["a"], ["started: projector"]]);
  });

  it("goes on after it was too busy to renew in time, when nobody took the lease meanwhile", async () => {
    const { lines, log } = collected();
    const onNetwork: Leases = {
      ...leases,
      hold: async (...request) => time.sleep(10).then(() => leases.hold(...request)),
    };
    let busyMs = 0;
    start("a", { log, leases: onNetwork, now: () => time.now() + busyMs });
    await time.until(worksAlone("a"));
    busyMs = TTL_MS * 2;
    await time.pass(TTL_MS * 3);
    expect([working, lines]).toEqual([["a"], ["started: projector"]]);
  });

  it("stops work that hangs on a lease store that never answers", async () => {
    let asked = 0;
    const hanging: Leases = {
      ...leases,
      hold: () => (asked++ === 0 ? Promise.resolve(true) : new Promise(() => undefined)),
    };
    // Nothing ends its question at the end of the test, so it is not waited for.
    void start("a", { leases: hanging });
    running = [];
    await time.until(worksAlone("a"));
    await time.until(() => working.length === 0, TTL_MS);
  });

  it("stops at the next renewal when another has it, as after a freeze that outlasted the lease", async () => {
    const { lines, log } = collected();
    start("a", { log });
    await time.until(worksAlone("a"));
    await leases.release("projector", "a");
    await leases.hold("projector", "b", TTL_MS);
    await time.until(() => working.length === 0, 1_000);
    expect(lines).toEqual(["started: projector", "projector has lost its lease"]);
  });

  it("frees the lease at once when it is told to stop", async () => {
    const own = new AbortController();
    const first = start("a", { ttlMs: 60_000 }, worker("a"), own.signal);
    await time.until(worksAlone("a"));
    start("b");
    own.abort();
    await first;
    await time.until(worksAlone("b"), 1_000);
  });

  it("tries again when the work fails, and logs the error", async () => {
    const { lines, log } = collected();
    let tries = 0;
    start("a", { log }, async (signal) => {
      tries += 1;
      if (tries < 3) throw new Error("no");
      await untilAborted(signal);
    });
    await time.until(() => tries === 3);
    const [works, failed] = ["started: projector", "projector failed: no"];
    expect(lines).toEqual([works, failed, works, failed, works]);
  });
});
