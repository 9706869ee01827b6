// Coalesced calls: concurrent callers share a run, but never one that began before their call.
import { describe, expect, it } from "vitest";
import { shareCalls } from "../../../src/runtime/share-calls.ts";

describe("shared calls", () => {
  function counted() {
    const gates: PromiseWithResolvers<number>[] = [];
    const call = shareCalls((_key: string) => {
      const gate = Promise.withResolvers<number>();
      gates.push(gate);
      return gate.promise;
    });
    return { call, gates };
  }

  it("during a run share the next one, which begins after it", async () => {
    const { call, gates } = counted();
    const first = call("a");
    const later = Array.from({ length: 50 }, () => call("a"));
    expect(gates).toHaveLength(1);
    gates[0]?.resolve(1);
    expect(await first).toBe(1);
    await expect.poll(() => gates.length).toBe(2);
    const latest = call("a");
    gates[1]?.resolve(2);
    expect(await Promise.all(later)).toEqual(Array.from({ length: 50 }, () => 2));
    await expect.poll(() => gates.length).toBe(3);
    gates[2]?.resolve(3);
    expect(await latest).toBe(3);
  });

  it("of one key do not wait for another's", async () => {
    const { call, gates } = counted();
    void call("a");
    const other = call("b");
    gates[1]?.resolve(7);
    expect(await other).toBe(7);
    gates[0]?.resolve(0);
  });

  it("fail only for the callers of the run that failed", async () => {
    const { call, gates } = counted();
    const first = call("a");
    const second = call("a");
    gates[0]?.reject(new Error("unavailable"));
    await expect(first).rejects.toThrow("unavailable");
    await expect.poll(() => gates.length).toBe(2);
    gates[1]?.resolve(2);
    expect(await second).toBe(2);
  });
});
