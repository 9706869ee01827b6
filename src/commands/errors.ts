// Base class and shared kinds of refusals. Messages are for the caller; codes are stable, and api/http-errors.ts maps
// them to statuses.
import { TIER_LIMITS, type Tier } from "../events/vocabulary.ts";
import { DomainError } from "../runtime/errors.ts";

/** A refusal by a business rule; its message may be shown to the caller. */
export abstract class CommandRefused extends DomainError {}

/** A stream has reached its length limit (STREAM_LIMITS). */
export class HistoryFull extends CommandRefused {
  override readonly code = "history_full";
  constructor(what: string, alternative: string) {
    super(`${what}: ${alternative}`);
  }
}

export class TierRequired extends CommandRefused {
  override readonly code = "tier_required";
  constructor(feature: string) {
    super(`${feature} require the Developer plan`);
  }
}

/** For what comes with the Developer plan. @throws TierRequired */
export function requireDeveloper(tier: Tier, feature: string): void {
  if (!TIER_LIMITS[tier].developerFeatures) throw new TierRequired(feature);
}
