// The daily check of custom domains: part of the projector role, done by one process at a time.
import { chance } from "../commands/chance.ts";
import { txtResolver } from "../commands/resolve-txt.ts";
import { checkDueDomains } from "../domain-checks.ts";
import { openLoneWork } from "./lone-work.ts";
import type { Opening } from "./opening.ts";

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
