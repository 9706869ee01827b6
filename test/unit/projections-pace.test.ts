// When projections commit next: soon while it is quiet, seldom in a flood, hardly at all where the cores are busy.
import { beforeEach, expect, it } from "vitest";
import { FLOOD, Pace } from "../../src/projections/pace.ts";

const never = new AbortController().signal;
let now: number;
let head: number;
let idle: number;
let more: boolean;
let pace: Pace;

beforeEach(() => {
  [now, head, idle, more] = [0, 0, 0, true];
  pace = new Pace({
    eventStore: { head: async () => String(head) },
    coreTimes: () => ({ idle, all: now }),
    now: () => now,
    wait: async (ms) => passes(ms),
  });
});

function passes(ms: number): void {
  now += ms;
  if (more) head += 1;
}

/** Milliseconds from the end of a commit to the next one. `share`: of the cores' time that was idle meanwhile. */
async function restAfter(events: number, work: number, share = 0.5): Promise<number> {
  await pace.begin(events);
  passes(work);
  idle += work * share;
  const ended = now;
  await pace.rest(events, never);
  return now - ended;
}

it("rests not at all after the first event, and then commits four times a second", async () => {
  expect(await restAfter(1, 10)).toBe(0);
  expect(await restAfter(1, 10)).toBe(240);
});

it("lets a dear commit rest longer, but never so long that a click is not seen within a second", async () => {
  await restAfter(1, 10);
  expect(await restAfter(FLOOD - 1, 120)).toBe(240);
  // 600 ms from the commit before to the next.
  expect(await restAfter(FLOOD - 1, 250)).toBe(600 - 240 - 250);
});

it("commits every two seconds in a flood", async () => {
  await restAfter(FLOOD, 500);
  expect(await restAfter(FLOOD, 500)).toBe(1_500);
});

it("leaves the cores to redirects where none was idle, for twelve seconds at most", async () => {
  await restAfter(FLOOD, 500);
  expect(await restAfter(FLOOD, 500, 0.01)).toBe(3_000);
  expect(await restAfter(FLOOD, 3_000, 0.01)).toBe(12_000);
});

it("goes on at once with a backlog to which nothing is added", async () => {
  await restAfter(FLOOD, 500);
  more = false;
  expect(await restAfter(FLOOD, 500, 0.01)).toBe(0);
});
