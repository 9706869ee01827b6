// What comes with the Developer plan only.
import { TIER_LIMITS, type Tier } from "../events/vocabulary.ts";
import { Refused } from "../runtime/refused.ts";

/** @throws tier_required */
export function requireDeveloper(tier: Tier, feature: string): void {
  if (!TIER_LIMITS[tier].developerFeatures)
    throw new Refused("tier_required", `${feature} require the Developer plan`);
}
