// Events of `domain-<hostname>`: which account owns a verified hostname; appended with NO_STREAM or an exact revision.
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";

const claim = z.object({
  hostname: z.string(),
  accountId: z.uuid(),
  domainId: z.uuid(),
  at: z.iso.datetime(),
});

export const domainEvents = {
  DomainClaimed: { version: 1, schema: claim },
  DomainReleased: { version: 1, schema: claim },
} as const satisfies Record<string, EventDefinition>;
