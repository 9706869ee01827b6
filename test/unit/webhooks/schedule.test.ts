// The retry schedule, the pause rule, the circuit breaker of a receiver and the sharing of slots.
import { describe, expect, it } from "vitest";
import { nextTryAt, pauseReason, TRY_DELAYS_MS } from "../../../src/webhooks/delivery/schedule.ts";
import { shareSlots } from "../../../src/webhooks/delivery/share-slots.ts";
import {
  afterFailure,
  CIRCUIT_SETTINGS,
  type Circuit,
  closedCircuit,
  widthOf,
} from "../../../src/webhooks/receiver/circuit.ts";

const NOW = Date.UTC(2026, 2, 1, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const failed = { tries: 1, failedAt: NOW, retryAfterMs: null, random: 0.5 };
const waitAfter = (tries: number, more: Partial<typeof failed> | { retryAfterMs: number } = {}) =>
  (nextTryAt({ ...failed, tries, ...more }) ?? Number.NaN) - NOW;

describe("the retry schedule", () => {
  it("attempts immediately, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, and then stops", () => {
    expect(TRY_DELAYS_MS[0]).toBe(0);
    const waits = [1, 2, 3, 4, 5, 6, 7].map((tries) => waitAfter(tries));
    expect(waits).toEqual([5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]);
    expect(nextTryAt({ ...failed, tries: 8 })).toBeUndefined();
  });

  it("varies each delay by ±20 %", () => {
    expect(waitAfter(2, { random: 0 })).toBe(4 * MINUTE);
    expect(waitAfter(2, { random: 0.999999 })).toBeGreaterThan(5.99 * MINUTE);
    expect(waitAfter(2, { random: 0.999999 })).toBeLessThanOrEqual(6 * MINUTE);
  });

  it("waits for as long as Retry-After says, but not less than the schedule and not more than ten hours", () => {
    expect(waitAfter(1, { retryAfterMs: HOUR })).toBe(HOUR);
    expect(waitAfter(2, { retryAfterMs: SECOND })).toBe(5 * MINUTE);
    expect(waitAfter(1, { retryAfterMs: 400 * DAY })).toBe(10 * HOUR);
    expect(nextTryAt({ ...failed, tries: 8, retryAfterMs: SECOND })).toBeUndefined();
  });
});

describe("the pause rule", () => {
  const streak = { since: NOW - 5 * DAY, attempts: 20 };

  it("pauses a webhook immediately after 410 Gone", () => {
    expect(pauseReason(410, { since: NOW, attempts: 1 }, NOW)).toMatch(/410 Gone/);
  });

  it("pauses after five days without a success and twenty attempts, not before both", () => {
    expect(pauseReason(500, streak, NOW)).toMatch(/five days and 20 attempts/);
    expect(pauseReason(null, streak, NOW)).toBeDefined();
    expect(pauseReason(500, { ...streak, attempts: 19 }, NOW)).toBeUndefined();
    expect(pauseReason(500, { since: NOW - 5 * DAY + 1, attempts: 5_000 }, NOW)).toBeUndefined();
  });
});

describe("the circuit breaker of a receiver", () => {
  const fail = (times: number, from: Circuit = closedCircuit, now = NOW) => {
    let circuit = from;
    for (let n = 0; n < times; n++) circuit = afterFailure(circuit, now, 0.5);
    return circuit;
  };
  const { failures, openFromMs, openToMs } = CIRCUIT_SETTINGS;

  it("stays closed up to the last failure before the limit", () => {
    expect(widthOf(fail(failures - 1), NOW, 8)).toBe(8);
    expect(widthOf(fail(failures), NOW, 8)).toBe(0);
  });

  it("admits one probe when it becomes half-open", () => {
    const open = fail(failures);
    expect(widthOf(open, NOW + openFromMs - 1, 8)).toBe(0);
    expect(widthOf(open, NOW + openFromMs, 8)).toBe(1);
  });

  it("stays open twice as long after each failed probe, up to a limit", () => {
    let circuit = fail(failures);
    let now = NOW;
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      times.push(circuit.openUntil - now);
      now = circuit.openUntil;
      circuit = afterFailure(circuit, now, 0.5);
    }
    expect(times.slice(0, 4)).toEqual([openFromMs, 2 * openFromMs, 4 * openFromMs, 8 * openFromMs]);
    expect(times.at(-1)).toBe(openToMs);
  });

  it("ignores failures of deliveries that were sent before it opened", () => {
    const open = fail(failures);
    expect(fail(20, open, NOW + 1).openUntil).toBe(open.openUntil);
  });
});

describe("the sharing of a worker's slots", () => {
  const share = (rooms: Record<string, number>, free: number) =>
    Object.fromEntries(
      shareSlots(
        Object.entries(rooms).map(([item, room]) => ({ item, room })),
        free,
      ),
    );

  it("is round-robin over the webhooks, up to the room of each", () => {
    expect(share({ a: 8, b: 8, c: 1 }, 7)).toEqual({ a: 3, b: 3, c: 1 });
    expect(share({ a: 8, b: 2 }, 100)).toEqual({ a: 8, b: 2 });
    expect(share({ a: 8, b: 8, c: 8 }, 2)).toEqual({ a: 1, b: 1 });
    expect(share({}, 5)).toEqual({});
    expect(share({ a: 3 }, 0)).toEqual({});
  });
});
