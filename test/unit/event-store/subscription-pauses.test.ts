// The pauses before a lost subscription of EventStoreDB is renewed.
import { expect, it, vi } from "vitest";
import type { Driver } from "../../../src/event-store/eventstoredb/driver.ts";
import { subscribeForEver } from "../../../src/event-store/eventstoredb/subscription.ts";

/** Pauses in milliseconds, when the server ends each of the subscriptions after so many seconds without an event. */
async function pausesAfter(...lifetimes: number[]): Promise<number[]> {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const pauses: number[] = [];
  const stop = new AbortController();
  const doubleThatEnds = () => ({
    lastArrival: 0,
    next: async () => {
      now += (lifetimes[pauses.length] ?? 0) * 1_000;
      return undefined;
    },
    buffered: () => undefined,
    cancel: () => undefined,
  });
  const deps = {
    driver: { subscribeAll: doubleThatEnds } as unknown as Driver,
    backoff: {
      random: () => 1,
      sleep: async (ms: number) => {
        pauses.push(ms);
        if (pauses.length === lifetimes.length) stop.abort();
      },
    },
    ...{ timeoutMs: 1, silenceMs: 1 },
  };
  const options = { after: undefined, prefixes: ["account-"], signal: stop.signal, batchSize: 1 };
  for await (const batch of subscribeForEver(deps, options)) expect(batch).toEqual([]);
  return pauses;
}

it("grow from one to the next while subscriptions end at once", async () => {
  expect(await pausesAfter(0, 0, 0, 14, 0, 0, 0, 0)).toEqual([
    ...[250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000],
  ]);
});

it("begin anew after a subscription that has lasted, also when no event came", async () => {
  expect(await pausesAfter(0, 0, 16, 0, 3_600, 3_600)).toEqual([250, 500, 250, 500, 250, 250]);
});
