// Retried work: how often, after which pauses, and when it ends.
import { describe, expect, it } from "vitest";
import { keepRunning, keepTrying } from "../../../src/runtime/keep-trying.ts";

const settings = { fromMs: 100, toMs: 1_000, random: () => 1 };

/** Records the pauses without waiting. */
function recorder() {
  const pauses: number[] = [];
  const sleep = async (ms: number) => void pauses.push(ms);
  return { pauses, deps: { ...settings, sleep } };
}

describe("keepTrying", () => {
  it("retries until the work succeeds, and reports each failure and the pause after it", async () => {
    const { deps } = recorder();
    const failures: [string, number][] = [];
    const onFailure = (error: unknown, ms: number) => void failures.push([(error as Error).message, ms]);
    let tries = 0;
    const work = async () => {
      tries++;
      if (tries < 4) throw new Error(`try ${tries}`);
    };
    await keepTrying({ ...deps, onFailure }, work, new AbortController().signal);
    expect(tries).toBe(4);
    expect(failures).toEqual([
      ["try 1", 100],
      ["try 2", 200],
      ["try 3", 400],
    ]);
  });

  it("resets the backoff after progress", async () => {
    const { pauses, deps } = recorder();
    let tries = 0;
    const work = async (progress: () => void) => {
      tries++;
      if (tries === 3) progress();
      if (tries < 5) throw new Error("again");
    };
    await keepTrying(deps, work, new AbortController().signal);
    expect(pauses).toEqual([100, 200, 100, 200]);
  });

  it("ends a pause when the signal aborts", async () => {
    const stopping = new AbortController();
    const deps = { ...settings, fromMs: 3_600_000, toMs: 3_600_000, onFailure: () => stopping.abort() };
    const work = () => Promise.reject(new Error("unavailable"));
    await keepTrying(deps, work, stopping.signal);
    expect(stopping.signal.aborted).toBe(true);
  });
});

describe("keepRunning", () => {
  it("starts work that ended by itself again, until the signal aborts", async () => {
    const { pauses, deps } = recorder();
    const stopping = new AbortController();
    let runs = 0;
    const work = async () => {
      runs++;
      if (runs === 3) stopping.abort();
    };
    await keepRunning(deps, work, stopping.signal);
    expect(runs).toBe(3);
    expect(pauses).toEqual([100, 200]);
  });
});
