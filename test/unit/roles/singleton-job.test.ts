// The jobs that one process does at a time: which of their failures the log shows.
import { expect, it } from "vitest";
import { ProjectionNotBuilt } from "../../../src/projections/builds/errors.ts";
import type { BasicLogger } from "../../../src/runtime/logging.ts";
import { runSingletonJob } from "../../../src/service/threads/background/jobs.ts";
import { memoryLeases } from "../../../src/stores/coordination/leases.memory.ts";

it("logs what failed, but not that a new service has no documents yet, and runs again", async () => {
  const failures = [new ProjectionNotBuilt("domains is being made", 1), new Error("a failure")];
  const warnings: unknown[] = [];
  const ran = Promise.withResolvers<void>();
  const lease = {
    leases: memoryLeases(() => performance.now()),
    holder: "this",
    log: {
      info: () => undefined,
      warn: (fields: { err: unknown }) => void warnings.push(fields.err),
    } as unknown as BasicLogger,
  };
  const run = async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    ran.resolve();
  };
  const job = { name: "a job", intervalMs: 1, run };
  const ended = new AbortController();
  const running = runSingletonJob(job, lease, ended.signal);
  await ran.promise;
  ended.abort();
  await running;
  expect(warnings).toEqual([new Error("a failure")]);
});
