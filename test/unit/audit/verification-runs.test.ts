// Verifications that the operator starts: one at a time, their progress and result for every process to see.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type VerifyInThread, verificationRuns } from "../../../src/audit/verification-runs.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { operatorStream } from "../../../src/events/streams.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { openStores, type Stores } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";

const FOUND = {
  ...{ ok: false, verdict: "problem" as const, sentence: "Not proved.", broken: [] },
  ...{ events: 7, problemCount: 1, anchor: "seal:0:00", types: {} },
  streams: { account: 0, domain: 0, link: 0, clicks: 0, withdrawals: 0, gaps: 0, operator: 0, person: 0 },
  problems: [{ check: "seal" as const, stream: "seals", revision: 0, position: "1", message: "was changed" }],
  seals: { count: 1, good: 0, newest: null, position: null, at: null, public_key: null, unsealed: 7 },
};

const NOTED = { number: 3, hash: "ab" };

describe("a verification", () => {
  let stores: Stores;
  let now = Date.parse("2026-03-01T10:00:00.000Z");
  const clock = () => new Date(now);

  beforeEach(async () => {
    stores = await openStores();
  });
  afterEach(() => stores.close());

  const runs = (verify: VerifyInThread) =>
    verificationRuns({
      ...{ ...runtimeDeps, ...stores, clock, verify },
      noted: { get: async () => NOTED },
      log: { warn: () => undefined },
    });
  const events = () => stores.eventStore.read(operatorStream(clock()));

  it("runs once at a time, and leaves its result here and in the log", async () => {
    const { promise: permitted, resolve: permit } = Promise.withResolvers<void>();
    const asked: unknown[] = [];
    const here = runs(async function* (options) {
      asked.push(options);
      yield 3;
      await permitted;
      return FOUND;
    });
    const elsewhere = runs(async function* () {
      yield 0;
      return FOUND;
    });
    expect(await here.read()).toBeUndefined();
    await here.start(operator);
    await expect(elsewhere.start(operator)).rejects.toMatchObject({
      code: "verification_in_progress",
    });
    expect(await elsewhere.read()).toMatchObject({ state: "running", result: null });
    permit();
    await until("the end", async () => (await elsewhere.read())?.state === "done");
    expect(asked).toEqual([{ noted: NOTED }]);
    expect(await elsewhere.read()).toMatchObject({ events: 7, result: { ok: false, problem_count: 1 } });
    expect(await events()).toMatchObject([
      { type: "LogVerified", data: { verdict: "problem", events: 7, problems: 1, anchor: "seal:0:00" } },
    ]);
  });

  it("that fails says so, and another can be started", async () => {
    const failing = runs(async function* () {
      yield 1;
      throw new Error("the log is unavailable");
    });
    await failing.start(operator);
    await until("the failure", async () => (await failing.read())?.state === "failed");
    expect((await failing.read())?.error).toBe("the log is unavailable");
    await failing.start(operator);
    await failing.close();
    expect(await events()).toEqual([]);
  });

  it.each([
    ["", 60_000],
    [", also when the clock was set back", -3_600_000],
  ])("whose process has ended is interrupted%s", async (_, afterMs) => {
    const { promise: never } = Promise.withResolvers<void>();
    const ending = runs(async function* () {
      yield 0;
      await never;
      return FOUND;
    });
    await ending.start(operator);
    now += afterMs;
    const other = runs(async function* () {
      yield 0;
      return FOUND;
    });
    expect((await other.read())?.state).toBe("interrupted");
    await other.start(operator);
    await until("the end", async () => (await other.read())?.state === "done");
  });
});
