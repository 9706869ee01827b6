// That a thread frees memory after its start although nothing fills its heap.
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { afterEach, expect, it } from "vitest";
import { collectAfterStart } from "../../../src/runtime/threads/collect-after-start.ts";
import { startFlags } from "../../support/service/service-process.ts";

afterEach(() => setFlagsFromString("--no-expose-gc"));

it("frees what a start has left behind, with the flags of a start", async () => {
  expect(startFlags()).toContain("--expose-gc");
  setFlagsFromString("--expose-gc");
  const left = new WeakRef({ module: "source" });
  await delay(20);
  expect(left.deref()).toBeDefined();
  collectAfterStart(10);
  await delay(100);
  expect(left.deref()).toBeUndefined();
});
