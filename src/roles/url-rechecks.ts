// Asking again about unchecked links: part of the projector role, done by one process at a time.
import { chance } from "../commands/chance.ts";
import { holdLease } from "../coordination/hold-lease.ts";
import { leaseHolder } from "../coordination/lease-holder.ts";
import { keepRechecking } from "../url-rechecks.ts";
import type { Opening } from "./opening.ts";
import type { Writing } from "./writing.ts";

/** Nobody waits for this work, so a dead holder may keep others waiting for half a minute. */
const LEASE = { ttlMs: 30_000, renewEveryMs: 10_000, askEveryMs: 10_000 };

/** Only Safe Browsing can be away, so without it there is nothing to ask again. */
export function openUrlRechecks({ config, log, backend, onStop }: Opening, { links }: Writing): void {
  if (!config.safeBrowsingKey) return;
  const { secrets, leases } = backend;
  const ended = new AbortController();
  const lease = { leases, name: "url-rechecks", holder: leaseHolder(chance.newId), log, ...LEASE };
  const working = holdLease(
    lease,
    (signal) => keepRechecking({ ...links, secrets, log }, signal),
    ended.signal,
  );
  onStop(() => {
    ended.abort();
    return working;
  });
}
