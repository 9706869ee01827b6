// The daily check of custom domains: part of the projector role, done by one process at a time.
import { chance } from "../commands/chance.ts";
import { txtResolver } from "../commands/resolve-txt.ts";
import { holdLease } from "../coordination/hold-lease.ts";
import { leaseHolder } from "../coordination/lease-holder.ts";
import { keepChecking } from "../domain-checks.ts";
import type { Opening } from "./opening.ts";

/** Nobody waits for this work, so a dead holder may keep others waiting for half a minute. */
const LEASE = { ttlMs: 30_000, renewEveryMs: 10_000, askEveryMs: 10_000 };

export function openDomainChecks({ config, log, clock, backend, onStop }: Opening): void {
  const { eventStore, readStore, secrets, leases } = backend;
  const { newId, random, sleep } = chance;
  const resolveTxt = txtResolver(config.dnsServers);
  const checks = { eventStore, readStore, secrets, clock, newId, random, sleep, resolveTxt, log };
  const ended = new AbortController();
  const holder = leaseHolder(newId);
  const lease = { leases, name: "domain-checks", holder, log, ...LEASE };
  const working = holdLease(lease, (signal) => keepChecking(checks, signal), ended.signal);
  onStop(() => {
    ended.abort();
    return working;
  });
}
