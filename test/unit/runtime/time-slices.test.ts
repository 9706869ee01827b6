// A thread that works at many items takes its messages between them.
import { expect, it } from "vitest";
import { inSlices } from "../../../src/runtime/threads/time-slices.ts";

it("begins items in turns of the event loop, without waiting for those before, and keeps their order", async () => {
  let [turns, isDone] = [0, false];
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  let inFlight = 0;
  let most = 0;
  const { promise: appended, resolve: append } = Promise.withResolvers<void>();
  const results = await inSlices(
    Array.from({ length: 20 }, (_, n) => n),
    async (item, index) => {
      const end = performance.now() + 4;
      while (performance.now() < end);
      most = Math.max(most, ++inFlight);
      if (inFlight === 20) append();
      await appended;
      return item === index && item;
    },
    20,
  );
  isDone = true;
  expect(results).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(most).toBe(20);
  expect(turns).toBeGreaterThanOrEqual(4);
});
