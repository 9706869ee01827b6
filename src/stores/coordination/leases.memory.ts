// Leases within one process, for the embedded default without a shared store.
import type { Leases } from "./leases.ts";

/** `clock`: monotonic milliseconds. */
export function memoryLeases(clock: () => number): Leases {
  const leases = new Map<string, { holder: string; expiresAt: number }>();
  return {
    async hold(name, holder, ttlMs) {
      const lease = leases.get(name);
      if (lease && lease.holder !== holder && lease.expiresAt > clock()) return false;
      leases.set(name, { holder, expiresAt: clock() + ttlMs });
      return true;
    },
    async release(name, holder) {
      if (leases.get(name)?.holder === holder) leases.delete(name);
    },
  };
}
