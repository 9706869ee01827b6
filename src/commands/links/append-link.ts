// Appends LinkCreated with the expectation that the link's stream does not exist, which makes the slug unique.
import type { Position } from "../../event-store/port.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { Caller, CommandContext } from "../caller.ts";
import { type CommandDeps, handleCommand } from "../handle-command.ts";
import { type DeriveSlug, derivedId } from "./derived-identity.ts";
import { create, type ExistingLink } from "./link.ts";
import { foldedLink, linkAsCreated } from "./link-stream.ts";

export type AppendLinkDeps = CommandDeps & {
  randomSlug: () => string;
  /** Used instead of `randomSlug` for a request with an idempotency scope. */
  derivedSlug: DeriveSlug;
};

/** `host`: part of the link's identity, without port. `origin`: the start of its short URL. */
export type LinkPlace = { host: string; origin: string; domainId?: string };

export type LinkToAppend = {
  longUrl: string;
  place: LinkPlace;
  slug: string;
  custom: boolean;
  /** Idempotency scope: the event's id is derived from it, so that a repeated append finds the first one. */
  scope: string | undefined;
  attempt: number;
};

const SLUG_TRIES = 5;

/** With a scope, a repeated append returns the link of the first one. @throws slug_taken */
export async function appendLink(
  deps: AppendLinkDeps,
  context: CommandContext,
  by: Caller,
  wanted: LinkToAppend,
): Promise<{ link: ExistingLink; position: Position | undefined }> {
  const { place, slug, scope, attempt } = wanted;
  const id = scope === undefined ? deps.newId() : derivedId("LinkCreated", scope, attempt);
  const facts = {
    host: place.host,
    slug,
    accountId: by.accountId,
    longUrl: wanted.longUrl,
    shortUrl: `${place.origin}/${slug}`,
    createdAt: deps.clock().toISOString(),
    via: by.via,
    custom: wanted.custom,
    keyId: by.keyId,
    domainId: place.domainId,
  };
  const { state, position } = await handleCommand(deps, context, {
    ...foldedLink(place.host, slug),
    decide: (link) => create(link, facts),
    expectNew: true,
    eventId: () => id,
  });
  if (scope !== undefined) return await linkAsCreated(deps.eventStore, place.host, slug);
  return { link: state as ExistingLink, position };
}

/** Tries slugs until one is free; with a scope, the same slugs in the same order. @throws no_free_slug */
export async function onFreeSlug<T>(
  deps: Pick<AppendLinkDeps, "randomSlug" | "derivedSlug">,
  scope: string | undefined,
  attempt: (slug: string, attempt: number) => Promise<T>,
): Promise<T> {
  for (let n = 0; n < SLUG_TRIES; n++) {
    try {
      return await attempt(scope === undefined ? deps.randomSlug() : deps.derivedSlug(scope, n), n);
    } catch (error) {
      if (!isRefused(error, "slug_taken")) throw error;
    }
  }
  throw new Refused("no_free_slug");
}
