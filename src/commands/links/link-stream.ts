// One link's stream: loads it, changes it, and appends LinkCreated expecting that there is none, which makes slugs unique.
import { StoreUnavailable } from "../../connections/errors.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import type { LinkEvent } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkStream } from "../../events/streams.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { Caller, CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type DeriveSlug, derivedId } from "./derived-identity.ts";
import { create, type ExistingLink, evolve, freeLink, type LinkState } from "./link.ts";

/** `host` without port: the base host or a custom domain. */
export type LinkAddress = { host: string; slug: string };

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

/** Folds the link's stream: strongly consistent, unlike the `links` projection. */
export async function currentLink(eventStore: EventStore, host: string, slug: string): Promise<LinkState> {
  return (await loadStream(eventStore, foldedLink(host, slug))).state;
}

/** @throws link_not_found */
export async function existingLink(
  { eventStore }: Pick<CommandDeps, "eventStore">,
  { host, slug }: LinkAddress,
): Promise<ExistingLink> {
  const link = await currentLink(eventStore, host, slug);
  if (link.status === "free") throw new Refused("link_not_found");
  return link;
}

/** The stream of a link and how it is folded, for handleCommand and loadStream. */
export function foldedLink(host: string, slug: string) {
  return { stream: linkStream(host, slug), initial: freeLink, fold: evolve };
}

/** Runs `decide` on the link's current state and appends what it returns (handle-command.ts). */
export async function onLink(
  deps: CommandDeps,
  context: CommandContext,
  { host, slug }: LinkAddress,
  decide: (link: LinkState, at: string) => readonly LinkEvent[],
): Promise<Appended> {
  const at = deps.clock().toISOString();
  const command = { ...foldedLink(host, slug), decide: (link: LinkState) => decide(link, at) };
  const { position } = await handleCommand(deps, context, command);
  return { position };
}

/** With a scope, a repeated append returns the link of the first one. @throws slug_taken */
export async function appendLink(
  deps: AppendLinkDeps,
  context: CommandContext,
  by: Caller,
  { longUrl, place, slug, custom, scope, attempt }: LinkToAppend,
): Promise<Appended & { link: ExistingLink }> {
  const { host, origin, domainId } = place;
  const id = scope === undefined ? deps.newId() : derivedId("LinkCreated", scope, attempt);
  const facts = {
    ...{ host, slug, accountId: by.accountId, longUrl, shortUrl: `${origin}/${slug}` },
    ...{ createdAt: deps.clock().toISOString(), via: by.via, custom, keyId: by.keyId, domainId },
  };
  const { state, position } = await handleCommand(deps, context, {
    ...foldedLink(host, slug),
    decide: (link) => create(link, facts),
    expectNew: true,
    eventId: () => id,
  });
  if (scope !== undefined) return await linkAsCreated(deps.eventStore, host, slug);
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

/**
 * What a repeated request is answered with: the link and the position of LinkCreated, without later changes.
 * @throws StoreUnavailable when an appended link can't be read back
 */
async function linkAsCreated(
  eventStore: EventStore,
  host: string,
  slug: string,
): Promise<{ link: ExistingLink; position: Position }> {
  const stream = linkStream(host, slug);
  const [recorded] = await eventStore.read(stream, { limit: 1 });
  const created = recorded && readEvent(recorded);
  if (created?.type !== "LinkCreated")
    throw new StoreUnavailable(`${stream} can't be read back after it was appended`);
  return { link: evolve(freeLink, created) as ExistingLink, position: created.position };
}
