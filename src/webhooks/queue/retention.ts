// How long deliveries are kept, and so how far back the log may make new ones.

const DAY_MS = 86_400_000;

/** Deliveries and their attempts, from their last state on (issue 5: 30 days). */
export const KEPT_MS = 30 * DAY_MS;

/** Between the clocks of the event store and ours. */
const CLOCK_MARGIN_MS = 3_600_000;

/** An event recorded before then makes no delivery: the one it had may be forgotten already. */
export function oldestRouted(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString();
}

/** What finished before then is forgotten: a little later, so that whatever may be routed again is still known. */
export function oldestKept(now: Date): string {
  return new Date(now.getTime() - KEPT_MS - CLOCK_MARGIN_MS).toISOString();
}
