// Throttled computations: shared results, and no concurrent runs.
import { describe, expect, it } from "vitest";
import { atMostEvery } from "../../../src/runtime/at-most-every.ts";

describe("a computation of at most every second", () => {
  const start = () => {
    const state = { now: 5_000, calls: 0, finish: [] as (() => void)[] };
    const ask = atMostEvery(
      1_000,
      () => state.now,
      () =>
        new Promise<number>((resolve) => {
          state.calls += 1;
          const answer = state.calls;
          state.finish.push(() => resolve(answer));
        }),
    );
    return { state, ask };
  };

  it("runs once for all callers during a run, however long it takes", async () => {
    const { state, ask } = start();
    const first = ask();
    state.now += 10_000;
    const second = ask();
    state.finish[0]?.();
    expect([await first, await second, state.calls]).toEqual([1, 1, 1]);
  });

  it("runs again a second after its last start, not earlier", async () => {
    const { state, ask } = start();
    const first = ask();
    state.finish[0]?.();
    await first;
    state.now += 999;
    expect([await ask(), state.calls]).toEqual([1, 1]);
    state.now += 1;
    const next = ask();
    state.finish[1]?.();
    expect([await next, state.calls]).toEqual([2, 2]);
  });

  it("caches an error no longer than a result", async () => {
    let now = 0;
    let fails = true;
    const ask = atMostEvery(
      1_000,
      () => now,
      async () => {
        if (fails) throw new RangeError("out of order");
        return "answer";
      },
    );
    await expect(ask()).rejects.toThrow(RangeError);
    fails = false;
    await expect(ask()).rejects.toThrow(RangeError);
    now = 1_000;
    expect(await ask()).toBe("answer");
  });
});
