// Rate windows that all processes share, and this process's own while the shared ones can't be asked.
import { CoordinationUnavailable } from "../../connections/errors.ts";
import type { RateLimits, RateWindow } from "./rate-limit.ts";

/**
 * What is granted counts in the own windows too, so that who has used up an hour here doesn't get another one by an
 * outage. While it lasts each process counts for itself.
 */
export function withOwnLimits(shared: RateLimits, own: RateLimits): RateLimits {
  const elseOwn = async (asked: Promise<RateWindow>, ask: () => Promise<RateWindow>) => {
    try {
      return await asked;
    } catch (error) {
      if (!(error instanceof CoordinationUnavailable)) throw error;
      return await ask();
    }
  };
  return {
    async take(subject, limit, now) {
      const counted = shared.take(subject, limit, now).then(async (window) => {
        if (window.granted) await own.take(subject, limit, now);
        return window;
      });
      return await elseOwn(counted, () => own.take(subject, limit, now));
    },
    look: (subject, limit, now) =>
      elseOwn(shared.look(subject, limit, now), () => own.look(subject, limit, now)),
  };
}
