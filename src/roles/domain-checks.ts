// The daily check of custom domains: part of the projector role, done by one process at a time.

import { txtResolver } from "../commands/domains/resolve-txt.ts";
import { chance } from "../commands/runtime-deps.ts";
import { checkDueDomains } from "../jobs/domain-checks.ts";
import type { Opening } from "./role-context.ts";
import { openLoneWork } from "./singleton-job.ts";

export function openDomainChecks(opening: Opening): void {
  const { config, log, clock, backend } = opening;
  const { eventStore, readStore, secrets } = backend;
  const { newId, random, sleep } = chance;
  const resolveTxt = txtResolver(config.dnsServers);
  const checks = { eventStore, readStore, secrets, clock, newId, random, sleep, resolveTxt, log };
  openLoneWork(opening, {
    name: "domain-checks",
    everyMs: 10 * 60_000,
    turn: (signal) => checkDueDomains(checks, signal),
    failed: "checking domains failed",
  });
}
