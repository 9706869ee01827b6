// The jobs that one process does at a time: which of their failures the log shows.
import { expect, it } from "vitest";
import { ProjectionNotBuilt } from "../../../src/projections/builds/errors.ts";
import type { Close } from "../../../src/runtime/stop/stop-in-stages.ts";
import { startSingletonJob } from "../../../src/service/roles/background-jobs.ts";
import type { RoleContext } from "../../../src/service/roles/role-context.ts";
import { memoryLeases } from "../../../src/stores/coordination/leases.memory.ts";

it("logs what failed, but not that a new service has no documents yet, and runs again", async () => {
  const failures = [new ProjectionNotBuilt("domains is being made", 1), new Error("a failure")];
  const warnings: unknown[] = [];
  const closers: Close[] = [];
  const ran = Promise.withResolvers<void>();
  const context = {
    log: { info: () => undefined, warn: (fields: { err: unknown }) => warnings.push(fields.err) },
    backend: { leases: memoryLeases(() => performance.now()) },
    onStop: (close: Close) => closers.push(close),
  } as unknown as RoleContext;
  const run = async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    ran.resolve();
  };
  startSingletonJob(context, { name: "a job", intervalMs: 1, run, failureMessage: "failed" });
  await ran.promise;
  await Promise.all(closers.map((close) => close(1_000)));
  expect(warnings).toEqual([new Error("a failure")]);
});
