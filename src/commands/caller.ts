// The authenticated caller of commands and queries: an API key, or a person signed in to the portal.

import { type CreatedVia, hasDeveloperFeatures, type Tier } from "../events/vocabulary.ts";
import type { Actor } from "../stores/event-store/port.ts";
import { Refused } from "./refusals.ts";

export type Caller = {
  accountId: string;
  tier: Tier;
  via: CreatedVia;
  /** Present when the caller came with an API key. */
  keyId?: string | undefined;
};

/** Written into the metadata of every event of the command; `requestId` becomes the correlation id. */
export type CommandContext = { requestId: string; actor: Actor };

/** `field`: of the request, that asks for the feature. @throws tier_required */
export function requireDeveloper(tier: Tier, feature: string, field?: string): void {
  if (!hasDeveloperFeatures(tier))
    throw new Refused("tier_required", `${feature} require the Developer plan`, field ? { field } : {});
}
