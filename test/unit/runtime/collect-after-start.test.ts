// That a thread frees memory after its start although nothing fills its heap.
import { setTimeout as delay } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { afterEach, expect, it } from "vitest";
import { collectAfterStart } from "../../../src/runtime/threads/in-thread.ts";
import { startFlags } from "../../support/service/service-process.ts";

const MB = 2 ** 20;

afterEach(() => setFlagsFromString("--no-expose-gc"));

it("frees what a start has left behind, with the flags of a start", async () => {
  expect(startFlags()).toContain("--expose-gc");
  setFlagsFromString("--expose-gc");
  const left = new WeakRef({ module: "source" });
  growYoungGeneration();
  await delay(20);
  expect(left.deref()).toBeDefined();
  expect(youngGeneration()).toBeGreaterThan(4 * MB);
  collectAfterStart(10);
  await expect.poll(youngGeneration, { timeout: 10_000 }).toBeLessThan(2 * MB);
  expect(left.deref()).toBeUndefined();
});

/** V8 enlarges it for objects that survive, and gives nothing back to the system by itself. */
function growYoungGeneration(): number {
  const kept: object[] = [];
  for (let n = 0; n < 300_000; n++) kept.push({ n });
  return kept.length;
}

/** Bytes of memory, used or not. */
function youngGeneration(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === "new_space")?.physical_space_size ?? 0;
}
