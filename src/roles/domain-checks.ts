// The daily check of custom domains: part of the projector role, done by one process at a time.

import { txtResolver } from "../commands/domains/resolve-txt.ts";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { checkDueDomains } from "../jobs/domain-checks.ts";
import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";

export function openDomainChecks(context: RoleContext): void {
  const { config, log, clock, backend } = context;
  const { eventStore, readStore, secrets } = backend;
  const { newId, random, sleep } = runtimeDeps;
  const resolveTxt = txtResolver(config.dnsServers);
  const checks = { eventStore, readStore, secrets, clock, newId, random, sleep, resolveTxt, log };
  startSingletonJob(context, {
    name: "domain-checks",
    intervalMs: 10 * 60_000,
    turn: (signal) => checkDueDomains(checks, signal),
    failed: "checking domains failed",
  });
}
