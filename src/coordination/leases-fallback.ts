// Falls back to leases within this process while the shared ones (Redis) are unavailable.
import { CoordinationUnavailable } from "../connections/errors.ts";
import type { Leases } from "./leases.ts";

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
