// Which problems of its parts take a process out of the load balancer, which only degrade it, and what its operator is told besides.
import { describe, expect, it } from "vitest";
import type { Problem } from "../../../src/api/operations/problems.ts";
import { SEALS_STREAM } from "../../../src/events/streams.ts";
import type { GroupStatus } from "../../../src/projections/builds/status.ts";
import { clicks, lifecycle } from "../../../src/projections/groups.ts";
import type { RecorderStatus } from "../../../src/redirect/clicks/recorder.ts";
import { type ObservedParts, observer } from "../../../src/service/monitoring/observe.ts";
import { problemsOf } from "../../../src/service/monitoring/parts.ts";
import type { RoleProblem } from "../../../src/service/threads/background.ts";
import { StoreFailed, StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import type { SetAside } from "../../../src/stores/coordination/set-aside.ts";
import { watchedLeases } from "../../../src/stores/coordination/watched-leases.ts";
import type { RecordedEvent } from "../../../src/stores/event-store/port.ts";
import type { WebhooksStatus } from "../../../src/webhooks/run-webhooks.ts";
import { quietParts } from "../../support/monitoring/quiet-parts.ts";

describe("readiness of a process with all roles", () => {
  it("stays while clicks are being folded after a flood", async () => {
    const late = status(clicks.name, { lagMs: 120_000 });
    const { ready, degraded } = await readiness(depsOf(late));
    expect(ready).toBe(true);
    expect(degraded).toEqual([
      { part: `projections ${clicks.name}`, reason: expect.stringContaining("120 s behind") },
    ]);
  });

  it.each([
    [
      "counts of clicks wait for a newer program",
      status(clicks.name, { waitsFor: { position: "1", stream: "s", revision: 0, type: "T" } }),
    ],
    ["clicks are counted for the first time", status(clicks.name, { lagMs: 120_000, answers: "nothing" })],
    ["links are late", status(lifecycle.name, { lagMs: 120_000 })],
  ])("ends when %s", async (_, problem) => {
    expect(await readiness(depsOf(problem))).toMatchObject({ ready: false, degraded: [] });
  });
});

it("stays, and says at once why documents can't be written, and secrets, and deliveries claimed", async () => {
  const full = "the disk is full (SQLITE_FULL): free some space";
  const late = status(lifecycle.name, { lagMs: 120_000, failure: full });
  const { ready, reasons, degraded } = await readiness({
    ...quietParts({ ofProcess: { log: { secrets: `can't be written: ${full}` } } }),
    projections: async () => [late, status(clicks.name, { failure: full })],
    webhooks: async () => ({ claimFailure: full }) as WebhooksStatus,
  });
  expect({ ready, reasons }).toEqual({ ready: true, reasons: [] });
  expect(degraded).toMatchObject([
    { part: "secrets", reason: `can't be written: ${full}` },
    { part: "projections", reason: full },
    { part: "projections lifecycle", reason: expect.stringContaining("120 s behind") },
    { part: "webhook deliveries", reason: full },
  ]);
});

it("ends when a role has been without an answer about its lease for ten seconds, and says why", async () => {
  let now = 0;
  const cut = new StoreUnavailable("MongoDB is unavailable");
  const never = { hold: () => Promise.reject(cut), release: async () => undefined };
  const leases = watchedLeases(never, () => now);
  const told = () => {
    const reason = leases.problem();
    const roleProblems: RoleProblem[] =
      reason === undefined ? [] : [{ role: "webhooks", reason, level: "unready" }];
    return readiness(
      quietParts({ projections: async () => [status(lifecycle.name, {})], ofProcess: { roleProblems } }),
    );
  };
  for (; now < 10_000; now += 3_000) {
    await leases.hold("router", "me", 3_000).catch(() => undefined);
    expect((await told()).ready).toBe(true);
  }
  expect(await told()).toMatchObject({
    ready: false,
    reasons: [{ part: "webhooks", reason: 'without its lease "router" for 12 s: MongoDB is unavailable' }],
  });
  never.hold = async () => false as never;
  await leases.hold("router", "me", 3_000);
  expect((await told()).ready).toBe(true);
});

it("stays degraded, and names the events, while any are set aside", async () => {
  const event = { position: "17", stream: "link-a/b", revision: 3, type: "LinkDisabled", error: "not JSON" };
  const of = { count: 5, events: [event, { ...event, position: "18", type: "" }] };
  const { ready, reasons, degraded } = await readiness(
    depsOf(status(lifecycle.name, { setAside: of }), { count: 1, events: [event] }),
  );
  expect({ ready, reasons }).toEqual({ ready: true, reasons: [] });
  expect(degraded).toEqual([
    {
      part: "projections lifecycle",
      reason: "5 events set aside: LinkDisabled at 17, unknown at 18, and 3 more",
    },
    { part: "webhook router", reason: "1 event set aside: LinkDisabled at 17" },
  ]);
});

it("stays degraded while documents of another log are folded anew, as look-ups go to the streams", async () => {
  const because = "the documents were folded from another log";
  const building = { progress: { events: 0, eventsPerSecond: 0, done: 0 }, because };
  const { ready, degraded } = await readiness(
    depsOf(status(lifecycle.name, { answers: "nothing", building })),
  );
  expect(ready).toBe(true);
  expect(degraded).toMatchObject([
    { part: `projections ${lifecycle.name}`, reason: expect.stringContaining(because) },
  ]);
});

it("is degraded while a salt of visitor codes outlives its day", async () => {
  const saltProblem = "of ended days can't be destroyed: EROFS";
  const recorder = async () => ({ saltProblem }) as RecorderStatus;
  const { ready, degraded } = await readiness({ ...depsOf(status(lifecycle.name, {})), recorder });
  expect(ready).toBe(true);
  expect(degraded).toContainEqual({ part: "visitor salts", reason: saltProblem });
});

it("is told why the progress of the projections can't be read, such as a file that a restore has left out", async () => {
  const reason = "events.db is damaged: restore it from a backup";
  const projections = () => Promise.reject(new StoreUnavailable(reason));
  const { reasons } = await readiness({ ...depsOf(status(lifecycle.name, {})), projections });
  expect(reasons).toEqual([{ part: "projector", reason }]);
});

it.each([
  ["away", new StoreUnavailable("The event store can't be reached"), false, true],
  ["refused, and was read before", new StoreFailed("Access Denied"), true, true],
  ["refused since the start", new StoreFailed("Access Denied"), false, false],
])("of a process with a click journal whose log is %s", async (_, error, wasRead, ready) => {
  const told = await readiness({
    ...depsOf(status(lifecycle.name, {})),
    eventStore: { ...depsOf(status(lifecycle.name, {})).eventStore, head: () => Promise.reject(error) },
    recorder: async () => ({ journal: { clicks: 0 } }) as RecorderStatus,
    wasLogRead: () => wasRead,
  });
  expect(told.ready).toBe(ready);
  expect([...told.reasons, ...told.degraded]).toContainEqual({
    part: "event store",
    reason: error instanceof StoreFailed ? "Access Denied" : "is unavailable",
  });
});

it("is degraded while limits count anew behind a damaged file", async () => {
  const problem =
    "limits.db was damaged (malformed): it is kept as limits.db.damaged-1, and limits count anew";
  const deps = quietParts({
    projections: async () => [status(lifecycle.name, {})],
    ofProcess: { limits: problem },
  });
  expect(await readiness(deps)).toMatchObject({
    ready: true,
    degraded: [{ part: "limits", reason: problem }],
  });
});

it("tells those who ask of nothing else what an operator should know, and where it is dealt with", async () => {
  const at = "2026-11-29T12:00:00.000Z";
  const clock = () => new Date("2026-11-29T14:00:00.000Z");
  const gap = { from: "2026-11-28T10:00:00.000Z", until: "2026-11-28T10:01:00.000Z", hits: 70 };
  const webhook = {
    _id: "w",
    status: "active",
    url: "https://hooks.example/in",
    accountId: "a",
    changedAt: at,
  };
  const streak = { webhookId: "w", since: at, lastAt: "2026-11-29T13:59:00.000Z", attempts: 20 };
  const quiet = quietParts();
  const told = observer(
    quietParts({
      clock,
      eventStore: {
        ...quiet.eventStore,
        readAll: async () => ({ events: [{ recordedAt: at } as RecordedEvent], next: "2" }),
      },
      readStore: {
        ...quiet.readStore,
        get: async () => ({ gaps: [gap, { ...gap, until: "2026-01-01T00:00:00.000Z" }] }),
        getMany: async () => [webhook],
      } as never,
      deliveryQueue: { ...quiet.deliveryQueue, streaks: async () => [streak] },
      verification: async () =>
        ({ result: { verdict: "problem", sentence: "Event 7 was changed." } }) as never,
      projections: async () => [status(lifecycle.name, { setAside: { count: 1, events: [] } })],
    }),
  );
  const seen = await told.look();
  expect(problemsOf(seen).map(({ level, at }) => [level, at])).toEqual([
    ["degraded", "/admin/projections/lifecycle"],
  ]);
  expect(problemsOf(seen, await told.lookAsOperator()).slice(1)).toMatchObject([
    { part: "seals", reason: expect.stringContaining("the last 2 hours"), at: "/admin/seals" },
    { part: "seals", reason: "do not prove the log: Event 7 was changed." },
    {
      part: "webhook receiver",
      reason:
        "hooks.example has failed since 2026-11-29 12:00 UTC, and rests until about 2026-11-29 14:04 UTC",
      at: "/admin/accounts/a",
    },
    { part: "clicks", reason: expect.stringContaining("70 were not recorded"), at: "/admin#gaps" },
  ]);
});

it("says nothing of seals while nothing came after the newest one", async () => {
  const at = "2026-11-29T12:00:00.000Z";
  const quiet = quietParts();
  const readAll: ObservedParts["eventStore"]["readAll"] = async ({ categories }) => ({
    events: categories.includes(SEALS_STREAM) ? [{ recordedAt: at } as RecordedEvent] : [],
    next: "2",
  });
  const told = observer(
    quietParts({
      clock: () => new Date("2026-11-30T12:00:00.000Z"),
      eventStore: { ...quiet.eventStore, readAll },
    }),
  );
  expect(problemsOf(await told.look(), await told.lookAsOperator())).toMatchObject([{ part: "projector" }]);
});

/** As /health/ready has it. */
async function readiness(parts: ObservedParts) {
  const problems = problemsOf(await observer(parts).look());
  const of = (wanted: Problem["level"]) =>
    problems.filter(({ level }) => level === wanted).map(({ part, reason }) => ({ part, reason }));
  return { ready: of("unready").length === 0, reasons: of("unready"), degraded: of("degraded") };
}

const depsOf = (problem: GroupStatus, setAside?: SetAside): ObservedParts =>
  quietParts({ projections: async () => [problem] }, setAside);

function status(name = "", more: Partial<GroupStatus>): GroupStatus {
  const position = { position: "1", head: "2", behind: true, lagMs: 0 };
  return {
    ...{
      name,
      version: 1,
      build: 0,
      waitsFor: null,
      setAside: { count: 0, events: [] },
      processed: 0,
      answers: "this",
      isOfOtherLog: false,
    },
    ...position,
    ...more,
  };
}
