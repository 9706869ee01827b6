// The commit interval: when a runner commits with few events, with many, and during a backlog.
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../../src/event-store/port.ts";
import { commitBatches } from "../../../src/projections/runner/commit-batches.ts";
import { manualTime } from "../../support/runtime/manual-time.ts";

const RULES = { pageEvents: 1_000, maxEvents: 1_000, commitIntervalMs: 500 };

/** A subscription whose pulls yield all events added so far, at most `most` of them. */
function stream(most: number) {
  let waiting: RecordedEvent[] = [];
  let wake: () => void = () => undefined;
  let last = 0;
  async function* subscribe(signal: AbortSignal): AsyncGenerator<RecordedEvent[]> {
    signal.addEventListener("abort", () => wake());
    while (!signal.aborted) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      if (batch.length > 0) yield batch;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  const give = (count: number) => {
    for (let n = 0; n < count; n++) waiting.push({ revision: last++ } as RecordedEvent);
    wake();
  };
  return { subscribe, give };
}

/** A consumer whose commits take `commitMs`, each by its number from 0. `commits`: when each began, and its events. */
function running({ commitMs = (_commit: number): number => 0, rules = RULES, most = 40_000 } = {}) {
  const time = manualTime();
  const source = stream(most);
  const stopping = new AbortController();
  const commits: { at: number; events: number }[] = [];
  const seen: number[] = [];
  const consume = async () => {
    for await (const events of commitBatches(source.subscribe, rules, stopping.signal, time)) {
      for (const { revision } of events) seen.push(revision);
      commits.push({ at: time.now(), events: events.length });
      await time.sleep(commitMs(commits.length - 1));
    }
  };
  const consumed = consume();
  const stop = async () => {
    stopping.abort();
    await time.until(() => false, 10_000).catch(() => undefined);
    await consumed;
  };
  return { time, source, commits, seen, stop, consumed };
}

describe("commits", () => {
  it("are made immediately for an event after the interval", async () => {
    const { time, source, commits, stop } = running();
    for (let n = 0; n < 3; n++) {
      source.give(1);
      await time.pass(600);
    }
    expect(commits.map(({ at }) => at)).toEqual([0, 600, 1_200]);
    await stop();
  });

  it("are made every half second while events keep coming, each with all events of that time", async () => {
    const { time, source, commits, stop } = running();
    for (let ms = 0; ms < 1_900; ms += 10) {
      source.give(1);
      await time.pass(10);
    }
    expect(commits.map(({ at }) => at)).toEqual([0, 500, 1_000, 1_500]);
    expect(commits.slice(1).map(({ events }) => events)).toEqual([49, 50, 50]);
    await stop();
  });

  it("start the interval at the end of a commit, also of a slow one", async () => {
    const { time, source, commits, stop } = running({ commitMs: () => 240 });
    for (let ms = 0; ms < 3_000; ms += 10) {
      source.give(1);
      await time.pass(10);
    }
    expect(commits.map(({ at }) => at)).toEqual([0, 740, 1_480, 2_220, 2_960]);
    await stop();
  });

  it("are made earlier at the maximum of events, joined from small batches", async () => {
    const rules = { ...RULES, maxEvents: 6_000 };
    const { time, source, commits, stop } = running({ rules, most: 2_000 });
    source.give(1);
    await time.pass(1);
    source.give(6_000);
    await time.pass(110);
    expect(commits.map(({ events }) => events)).toEqual([1, 6_000]);
    await stop();
  });

  it("fold a backlog in full batches without a pause, each event once", async () => {
    const { time, source, commits, seen, stop } = running({ commitMs: () => 50, most: 1_000 });
    for (let n = 0; n < 10; n++) source.give(1_000);
    await time.until(() => seen.length === 10_000, 10 * 50);
    expect(commits.every(({ events }) => events === 1_000)).toBe(true);
    expect(seen).toEqual(seen.map((_, n) => n));
    await stop();
  });

  it("of a backlog hold as many pages as make the maximum of events, and the last one what is left", async () => {
    const rules = { ...RULES, maxEvents: 4_000 };
    const { time, source, commits, seen, stop } = running({ commitMs: () => 300, most: 1_000, rules });
    source.give(10_500);
    await time.until(() => seen.length === 10_500, 3 * 300 + 200);
    expect(commits.map(({ events }) => events)).toEqual([4_000, 4_000, 2_500]);
    expect(seen).toEqual(seen.map((_, n) => n));
    await stop();
  });

  it("follow a full batch that nothing follows", async () => {
    const { time, source, commits, stop } = running();
    source.give(1);
    await time.pass(600);
    source.give(1_000);
    await time.pass(110);
    expect(commits.map(({ events }) => events)).toEqual([1, 1_000]);
    await stop();
  });

  it("under high load don't wait for more than the short interval without an event", async () => {
    const rules = { ...RULES, pageEvents: 40_000, maxEvents: 40_000 };
    const { time, source, commits, stop } = running({ rules });
    for (let ms = 0; ms < 3_000; ms += 100) {
      source.give(1_200);
      await time.pass(100);
    }
    await time.pass(600);
    expect(commits.map(({ at }) => at)).toEqual([0, 500, 2_500, 3_400]);
    await stop();
  });

  it("are made every two seconds under high load, so that the same documents are written less often", async () => {
    const { time, source, commits, stop } = running({
      rules: { ...RULES, pageEvents: 40_000, maxEvents: 40_000 },
    });
    for (let ms = 0; ms < 7_000; ms += 100) {
      source.give(1_200);
      await time.pass(100);
    }
    expect(commits.map(({ at }) => at)).toEqual([0, 500, 2_500, 4_500, 6_500]);
    expect(commits.slice(3).map(({ events }) => events)).toEqual([24_000, 24_000]);
    await stop();
  });

  it("keep the short interval after a commit that took long, as the rate is what counts", async () => {
    const { time, source, commits, stop } = running({
      commitMs: () => 900,
      rules: { ...RULES, pageEvents: 40_000, maxEvents: 40_000 },
    });
    for (let ms = 0; ms < 6_000; ms += 100) {
      source.give(500);
      await time.pass(100);
    }
    expect(commits.map(({ at }) => at)).toEqual([0, 1_400, 2_800, 4_200, 5_600]);
    expect(commits.slice(2).every(({ events }) => events === 7_000)).toBe(true);
    await stop();
  });

  it("keep the short interval where one of them took long, as what came meanwhile is of its time too", async () => {
    const { time, source, commits, stop } = running({
      commitMs: (commit) => (commit === 1 ? 3_000 : 0),
      rules: { ...RULES, pageEvents: 40_000, maxEvents: 40_000 },
    });
    for (let ms = 0; ms < 5_500; ms += 100) {
      source.give(500);
      await time.pass(100);
    }
    expect(commits.map(({ at }) => at)).toEqual([0, 500, 4_000, 4_500, 5_000]);
    await stop();
  });

  it("end when the signal aborts, also during a wait for more events", async () => {
    const { time, source, stop } = running();
    source.give(1);
    await time.pass(1);
    source.give(1);
    await time.pass(1);
    await stop();
  });

  it("end with the subscription's error, after or without a commit of the events before it", async () => {
    async function* broken(): AsyncGenerator<RecordedEvent[]> {
      yield [{ revision: 0 } as RecordedEvent];
      throw new Error("dropped");
    }
    const time = manualTime();
    const seen: number[] = [];
    const consume = async () => {
      const steps = commitBatches(broken, RULES, new AbortController().signal, time);
      for await (const { length } of steps) seen.push(length);
    };
    await expect(consume()).rejects.toThrow("dropped");
    expect(seen).toEqual([1]);
  });

  it("close the subscription when their consumer stops iterating", async () => {
    const time = manualTime();
    const source = stream(1);
    let left = false;
    const subscribe = (signal: AbortSignal) => {
      signal.addEventListener("abort", () => (left = true));
      return source.subscribe(signal);
    };
    source.give(1);
    source.give(1);
    for await (const _ of commitBatches(subscribe, RULES, new AbortController().signal, time)) break;
    expect(left).toBe(true);
  });

  it("never wait for less than no time", async () => {
    // With steps of this length the interval ends between two looks at the clock.
    const stepMs = 7.5;
    async function* everyTime(): AsyncGenerator<RecordedEvent[]> {
      for (;;) yield [{ revision: 0 } as RecordedEvent];
    }
    let ms = 0;
    const waits: number[] = [];
    const time = {
      now: () => (ms += stepMs),
      sleep: async (waitMs: number, signal?: AbortSignal) => {
        waits.push(waitMs);
        await turn();
        if (!signal?.aborted) ms += waitMs;
      },
    };
    let commits = 0;
    for await (const _ of commitBatches(everyTime, RULES, new AbortController().signal, time))
      if (++commits === 3) break;
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
  });
});
