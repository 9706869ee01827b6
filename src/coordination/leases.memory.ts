// Leases within one process: for the embedded default, or in place of shared ones (Redis) while those are unavailable.
import { CoordinationUnavailable } from "../connections/errors.ts";
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

const ANOTHER_PROCESS = "another process";

/**
 * During an outage a holder keeps its lease, and another process gets it once the one it knows of must have expired: each
 * may work then, which repeats work and harms nothing (leases.ts).
 */
export function withOwnLeases(shared: Leases, own: Leases): Leases {
  return {
    async hold(name, holder, ttlMs) {
      try {
        const isHeld = await shared.hold(name, holder, ttlMs);
        await own.release(name, isHeld ? ANOTHER_PROCESS : holder);
        if (!isHeld) await own.hold(name, ANOTHER_PROCESS, ttlMs);
        return isHeld;
      } catch (error) {
        if (!(error instanceof CoordinationUnavailable)) throw error;
        return await own.hold(name, holder, ttlMs);
      }
    },
    async release(name, holder) {
      await own.release(name, holder);
      await shared.release(name, holder);
    },
  };
}
