// Leases that know for how long they have been without an answer, so that readiness can say that nobody does the work.
import { messageOf } from "../../runtime/errors.ts";
import type { Leases } from "./leases.ts";

/** `problem`: which lease has had no answer for ten seconds, and why; undefined while all have. */
export type WatchedLeases = Leases & { problem(): string | undefined };

const MOST_WITHOUT_ANSWER_MS = 10_000;

/** `now`: milliseconds that never go back. That another holder has a lease is an answer, too. */
export function watchedLeases(leases: Leases, now: () => number): WatchedLeases {
  const waiting = new Map<string, { since: number; why: string }>();
  return {
    async hold(name, holder, ttlMs) {
      const waitingFor = waiting.get(name) ?? { since: now(), why: "no answer" };
      waiting.set(name, waitingFor);
      try {
        const isHeld = await leases.hold(name, holder, ttlMs);
        waiting.delete(name);
        return isHeld;
      } catch (error) {
        waitingFor.why = messageOf(error);
        throw error;
      }
    },
    release: (name, holder) => leases.release(name, holder),
    problem() {
      for (const [name, { since, why }] of waiting)
        if (now() - since >= MOST_WITHOUT_ANSWER_MS)
          return `without its lease "${name}" for ${Math.round((now() - since) / 1_000)} s: ${why}`;
      return undefined;
    },
  };
}
