// The retention of deliveries, which also limits how old an event may be to create one.
const DAY_MS = 86_400_000;

/** Retention of a delivery with its attempts after it has finished. */
const KEPT_MS = 30 * DAY_MS;

/** Allowed clock skew between the event store and this process. */
const CLOCK_MARGIN_MS = 3_600_000;

/** Events recorded earlier create no delivery: theirs may already be deleted, so a duplicate would not be noticed. */
export function oldestRouted(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString();
}

/** Deliveries that finished earlier are deleted; later than `oldestRouted`, so that every routable event is known. */
export function oldestKept(now: Date): string {
  return new Date(now.getTime() - KEPT_MS - CLOCK_MARGIN_MS).toISOString();
}
