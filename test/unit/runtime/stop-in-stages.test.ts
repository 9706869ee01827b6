// The time budget of a shutdown, with parts that hang or fail.
import { describe, expect, it } from "vitest";
import { type StopStage, stopInStages } from "../../../src/runtime/stop/stop-in-stages.ts";
import { manualTime } from "../../support/runtime/manual-time.ts";

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
      await time.sleep(ms);
    };
  const log = { error: ({ err }: { err: Error }) => void errors.push(err.message) };
  let ended = false;
  void stopInStages({ ...time, log: log as never }, budgetMs, stagesOf(takes)).then(() => {
    ended = true;
  });
  await time.until(() => ended);
  return { tookMs: time.now(), given, errors };
}

const stages = (...closers: StopStage["closers"][]): StopStage[] =>
  [3 / 8, 7 / 8, 1].map((until, n) => ({ until, closers: closers[n] ?? [] }));

describe("a shutdown", () => {
  it("gives each stage the time that the one before has left", async () => {
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

  it("continues when a part fails", async () => {
    const { given, errors } = await stopped(8_000, (takes) =>
      stages([() => Promise.reject(new Error("no"))], [takes(1, "recorder")], [takes(1, "stores")]),
    );
    expect(Object.keys(given)).toEqual(["recorder", "stores"]);
    expect(errors).toEqual(["no"]);
  });
});
