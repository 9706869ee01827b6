// Leases among the parts of one process.
import type { Lease, Leases } from "./leases.ts";

/** `clock` in milliseconds, never set back. */
export function memoryLeases(clock: () => number): Leases {
  const held = new Map<string, { token: number; until: number }>();
  let lastToken = 0;
  // Who wakes up too late goes on as long as nobody else has asked: there is no other machine that could have.
  const current = ({ name, token }: Lease) => {
    const lease = held.get(name);
    return lease?.token === token ? lease : undefined;
  };
  return {
    async acquire(name, holder, ttlMs) {
      if ((held.get(name)?.until ?? 0) > clock()) return undefined;
      lastToken += 1;
      held.set(name, { token: lastToken, until: clock() + ttlMs });
      return { name, holder, token: lastToken };
    },
    async renew(lease, ttlMs) {
      const mine = current(lease);
      if (mine) mine.until = clock() + ttlMs;
      return mine !== undefined;
    },
    async release(lease) {
      if (current(lease)) held.delete(lease.name);
    },
  };
}
