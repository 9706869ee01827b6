// A stop keeps to one budget, whatever its parts do.
import { describe, expect, it } from "vitest";
import { type StopDeps, type StopStage, stopInStages } from "../../src/runtime/stop-in-stages.ts";

/** Time passes only when everybody sleeps: the earliest sleeper wakes then. */
function manualTime() {
  let now = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  const advance = () => {
    const [first] = sleepers.sort((a, b) => a.at - b.at);
    if (!first) return;
    now = first.at;
    first.wake();
  };
  const sleep: StopDeps["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      const sleeper = { at: now + ms, wake: () => finish() };
      const finish = () => {
        sleepers = sleepers.filter((one) => one !== sleeper);
        resolve();
      };
      sleepers.push(sleeper);
      signal?.addEventListener("abort", finish);
    });
  return { sleep, now: () => now, advance };
}

async function stopped(
  budgetMs: number,
  stagesOf: (takes: (ms: number, name: string) => () => Promise<void>) => StopStage[],
) {
  const time = manualTime();
  const given: Record<string, number> = {};
  const errors: unknown[] = [];
  const takes =
    (ms: number, name: string) =>
    async (withinMs = 0) => {
      given[name] = withinMs;
      await time.sleep(ms, new AbortController().signal);
    };
  const log = { error: ({ err }: { err: Error }) => void errors.push(err.message) };
  let ended = false;
  const stopping = stopInStages({ ...time, log: log as never }, budgetMs, stagesOf(takes)).then(() => {
    ended = true;
  });
  while (!ended) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!ended) time.advance();
  }
  await stopping;
  return { tookMs: time.now(), given, errors };
}

const stages = (...closers: StopStage["closers"][]): StopStage[] =>
  [3 / 8, 7 / 8, 1].map((until, n) => ({ until, closers: closers[n] ?? [] }));

describe("a stop", () => {
  it("gives each stage what the one before it has left", async () => {
    const { tookMs, given, errors } = await stopped(8_000, (takes) =>
      stages(
        [takes(100, "requests")],
        [takes(2_000, "recorder"), takes(500, "projector")],
        [takes(50, "stores")],
      ),
    );
    expect(given).toEqual({ requests: 3_000, recorder: 6_900, projector: 6_900, stores: 5_900 });
    expect([tookMs, errors]).toEqual([2_150, []]);
  });

  it("takes no longer than its budget when every part hangs, and leaves each stage its share", async () => {
    const ever = 3_600_000;
    const { tookMs, given, errors } = await stopped(8_000, (takes) =>
      stages(
        [takes(ever, "requests")],
        [takes(ever, "recorder"), takes(ever, "webhooks")],
        [takes(ever, "stores")],
      ),
    );
    expect(given).toEqual({ requests: 3_000, recorder: 4_000, webhooks: 4_000, stores: 1_000 });
    expect(tookMs).toBe(8_000);
    expect(errors).toEqual([
      "not closed within 3000 ms",
      "not closed within 4000 ms",
      "not closed within 4000 ms",
      "not closed within 1000 ms",
    ]);
  });

  it("goes on when a part fails", async () => {
    const { given, errors } = await stopped(8_000, (takes) =>
      stages([() => Promise.reject(new Error("no"))], [takes(1, "recorder")], [takes(1, "stores")]),
    );
    expect(Object.keys(given)).toEqual(["recorder", "stores"]);
    expect(errors).toEqual(["no"]);
  });
});
