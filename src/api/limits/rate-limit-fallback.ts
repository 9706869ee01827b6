// Falls back to this process's own rate windows while the shared ones (Redis, the primary's) are unavailable.
import { CoordinationUnavailable } from "../../connections/errors.ts";
import type { RateLimits, RateWindow } from "./rate-limit.ts";

/**
 * Granted requests also count in the own windows, so that an outage does not reset a caller's window in this process.
 * During an outage each process counts for itself, so a caller may get up to the limit from each.
 */
export function withOwnLimits(shared: RateLimits, own: RateLimits): RateLimits {
  const orElse = async (window: Promise<RateWindow>, fallback: () => Promise<RateWindow>) => {
    try {
      return await window;
    } catch (error) {
      if (!(error instanceof CoordinationUnavailable)) throw error;
      return await fallback();
    }
  };
  return {
    async take(subject, limit, now) {
      const counted = shared.take(subject, limit, now).then(async (window) => {
        if (window.granted) await own.take(subject, limit, now);
        return window;
      });
      return await orElse(counted, () => own.take(subject, limit, now));
    },
    look: (subject, limit, now) =>
      orElse(shared.look(subject, limit, now), () => own.look(subject, limit, now)),
  };
}
