// Events of `domain-<hostname>`: which account owns a verified hostname; appended with NO_STREAM or an exact revision.
import { z } from "zod";
import type { CatalogueEntry } from "./definition.ts";

const claim = z.object({
  hostname: z.string().describe("Lower-case A-label form"),
  accountId: z.uuid().describe("The owner of the verified hostname"),
  domainId: z
    .uuid()
    .describe("Names this claim: the domain's id in the API, unless the account has had the hostname before"),
  at: z.iso.datetime().describe("When it happened"),
});

export const domainEvents = {
  DomainClaimed: {
    version: 1,
    summary: "A verified hostname became an account's own: no other account can use it.",
    schema: claim,
  },
  DomainReleased: {
    version: 1,
    summary: "An account gave a hostname up, or lost it to its new owner.",
    schema: claim,
  },
} as const satisfies Record<string, CatalogueEntry>;
