// Throttled computations: shared results, and no concurrent runs.
import { describe, expect, it } from "vitest";
import { atMostEvery } from "../../../src/runtime/at-most-every.ts";

describe("a computation of at most every second", () => {
  const start = () => {
    const state = { now: 5_000, calls: 0, finish: [] as (() => void)[] };
    const throttled = atMostEvery(
      1_000,
      () => state.now,
      () =>
        new Promise<number>((resolve) => {
          state.calls += 1;
          const answer = state.calls;
          state.finish.push(() => resolve(answer));
        }),
    );
    return { state, throttled };
  };

  it("runs once for all callers during a run, however long it takes", async () => {
    const { state, throttled } = start();
    const first = throttled();
    state.now += 10_000;
    const second = throttled();
    state.finish[0]?.();
    expect([await first, await second, state.calls]).toEqual([1, 1, 1]);
  });

  it("runs again a second after its last start, not earlier", async () => {
    const { state, throttled } = start();
    const first = throttled();
    state.finish[0]?.();
    await first;
    state.now += 999;
    expect([await throttled(), state.calls]).toEqual([1, 1]);
    state.now += 1;
    const next = throttled();
    state.finish[1]?.();
    expect([await next, state.calls]).toEqual([2, 2]);
  });

  it("caches an error no longer than a result", async () => {
    let now = 0;
    let fails = true;
    const throttled = atMostEvery(
      1_000,
      () => now,
      async () => {
        if (fails) throw new RangeError("out of order");
        return "answer";
      },
    );
    await expect(throttled()).rejects.toThrow(RangeError);
    fails = false;
    await expect(throttled()).rejects.toThrow(RangeError);
    now = 1_000;
    expect(await throttled()).toBe("answer");
  });
});
