// The pauses before a lost subscription of EventStoreDB is renewed.
import { expect, it } from "vitest";
import type { Driver } from "../../../src/event-store/eventstoredb/driver.ts";
import { subscribeForEver } from "../../../src/event-store/eventstoredb/subscription.ts";

/** Pauses in milliseconds, when the server ends each of so many subscriptions without an event. */
async function pausesAfter(losses: number, random: () => number): Promise<number[]> {
  const pauses: number[] = [];
  const stop = new AbortController();
  const doubleThatEnds = () => ({
    lastArrival: 0,
    next: async () => undefined,
    buffered: () => undefined,
    cancel: () => undefined,
  });
  const deps = {
    driver: { subscribeAll: doubleThatEnds } as unknown as Driver,
    backoff: {
      random,
      sleep: async (ms: number) => {
        pauses.push(ms);
        if (pauses.length === losses) stop.abort();
      },
    },
    ...{ timeoutMs: 1, silenceMs: 1 },
  };
  const options = { after: undefined, categories: ["account"], signal: stop.signal, batchSize: 1 };
  for await (const batch of subscribeForEver(deps, options)) expect(batch).toEqual([]);
  return pauses;
}

it("stay as short as the first, so that events come half a second after an outage of any length", async () => {
  expect(await pausesAfter(20, () => 1)).toEqual(Array(20).fill(500));
});

it("differ between subscriptions that were lost together", async () => {
  expect(await pausesAfter(1, () => 0)).toEqual([250]);
});
