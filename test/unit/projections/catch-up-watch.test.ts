// The progress of projections that catch up, in their status and in the log.
import { describe, expect, it } from "vitest";
import { catchUpWatch } from "../../../src/projections/runner/catch-up-watch.ts";
import type { ProjectionStatus } from "../../../src/projections/runner/status.ts";

const HEAD = 150_000;

function status(name: string, position: number, more: Partial<ProjectionStatus> = {}): ProjectionStatus {
  const text = (at: number) => String(at).padStart(20, "0");
  const behind = position < HEAD;
  return {
    ...{ name, version: 1, build: 0, waitsFor: null, setAside: { count: 0, events: [] } },
    ...{ position: position ? text(position) : null, head: text(HEAD), processed: position, answers: "this" },
    ...{ behind, lagMs: behind ? 3_600_000 : 0, ...more },
  };
}

function watched() {
  let now = 0;
  const lines: string[] = [];
  const log = { info: (_: object, message: string) => void lines.push(message) } as never;
  const watch = catchUpWatch({ group: "clicks", now: () => now, log });
  const at = (ms: number, ...statuses: ProjectionStatus[]) => {
    now = ms;
    return watch(statuses);
  };
  return { at, lines };
}

describe("projections that catch up", () => {
  it("report progress, rate and time left of the one with the lowest position", () => {
    const { at } = watched();
    expect(at(0, status("a", 0), status("b", 0))[0]?.catchUp).toEqual({
      ...{ events: 0, eventsPerSecond: 0, done: 0 },
    });
    const [fast, slow] = at(10_000, status("a", 100_000), status("b", 50_000));
    const progress = { events: 50_000, eventsPerSecond: 5_000, done: 1 / 3, secondsLeft: 20 };
    expect([fast?.catchUp, slow?.catchUp]).toEqual([progress, progress]);
  });

  it("compute the rate from where this process started", () => {
    const { at } = watched();
    at(0, status("a", 120_000, { processed: 0 }));
    const [one] = at(3_000, status("a", 135_000, { processed: 15_000 }));
    expect(one?.catchUp).toEqual({ events: 15_000, eventsPerSecond: 5_000, done: 0.9, secondsLeft: 3 });
  });

  it("report how far a build has read before it commits anything", () => {
    const { at, lines } = watched();
    const catchUp = { events: 60_000, eventsPerSecond: 20_000, done: 0.4, secondsLeft: 4 };
    const [build] = at(0, status("a", 0, { processed: 60_000, answers: "nothing", catchUp }));
    expect(build?.catchUp).toEqual(catchUp);
    expect(lines).toEqual(["projections catch up: 40 %, 60000 events, 20000/s, about 4 s left"]);
  });

  it("are logged every five seconds and once at the end, however often the status is read", () => {
    const { at, lines } = watched();
    for (let second = 0; second <= 30; second++) at(second * 1_000, status("a", second * 5_000));
    at(31_000, status("a", HEAD));
    expect(lines).toEqual([
      "projections catch up: 0 %, 0 events, 0/s",
      "projections catch up: 16 %, 25000 events, 5000/s, about 25 s left",
      "projections catch up: 33 %, 50000 events, 5000/s, about 20 s left",
      "projections catch up: 50 %, 75000 events, 5000/s, about 15 s left",
      "projections catch up: 66 %, 100000 events, 5000/s, about 10 s left",
      "projections catch up: 83 %, 125000 events, 5000/s, about 5 s left",
      "projections have caught up: 100 %, 150000 events, 5000/s",
    ]);
  });

  it("are not reported below the lag limit, nor when waiting for a newer program", () => {
    const { at, lines } = watched();
    const [busy, waiting] = at(
      0,
      status("a", HEAD - 10, { lagMs: 400 }),
      status("b", 10, { waitsFor: { position: "10", stream: "s", revision: 1, type: "t" } }),
    );
    expect([busy?.catchUp, waiting?.catchUp, lines]).toEqual([undefined, undefined, []]);
  });
});
