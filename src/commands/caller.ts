// Who asks: an authenticated API key, or a person in the portal; what commands and queries decide rights by.
import type { Actor } from "../event-store/port.ts";
import type { CreatedVia, Tier } from "../events/vocabulary.ts";

export type Caller = {
  accountId: string;
  tier: Tier;
  via: CreatedVia;
  /** Present when the caller came with an API key. */
  keyId?: string | undefined;
};

/** Where a command came from; ends in every event's metadata. `requestId` becomes the correlation id. */
export type CommandContext = { requestId: string; actor: Actor };
