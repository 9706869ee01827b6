// The singleton job of the projector role that checks the TXT records of custom domains.
import { txtResolver } from "../commands/domains/hostname.ts";
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
    run: (signal) => checkDueDomains(checks, signal),
    failureMessage: "checking domains failed",
  });
}
