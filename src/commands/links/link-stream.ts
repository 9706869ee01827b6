// One link's stream: loads and changes it.

import type { LinkEvent } from "../../events/catalogue.ts";
import { linkStream } from "../../events/streams.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { CommandContext } from "../caller.ts";
import {
  type Appended,
  type CommandDeps,
  handleCommand,
  type Loaded,
  loadStream,
} from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { derivedId } from "./derived-identity.ts";
import { type ExistingLink, evolve, freeLink, type LinkState } from "./link.ts";

/** `host` without port: the base host or a custom domain. */
export type LinkAddress = { host: string; slug: string };

/** `host`: part of the link's identity, without port. `origin`: the start of its short URL. */
export type LinkPlace = { host: string; origin: string; domainId?: string };

/** The stream of a link and how it is folded, for handleCommand and loadStream. */
export function foldedLink(host: string, slug: string) {
  return { stream: linkStream(host, slug), initial: freeLink, fold: evolve };
}

/** The most events that one request which changes a link comes to (LinkChangeRequest). */
const MOST_EVENTS = 4;

/** `link`: as it is after the change. */
export type ChangedLink = Appended & { link: ExistingLink };

/** `made`: what the same request has made of the link before, without later changes. */
export type RepeatableLink = { link: LinkState; made?: ChangedLink };

/** A link that a request is about to change. `command`: for handleCommand. `scope`: of idempotency. */
export type LoadedLink = LinkAddress & {
  accountId: string;
  deleted: boolean;
  scope: string | undefined;
  command: ReturnType<typeof repeatableLink> & { loaded: Loaded<RepeatableLink> };
};

/** Undefined where there is none. `scope`: a request that is repeated with the same one finds what it has made of the link. */
export async function loadedLink(
  { eventStore }: Pick<CommandDeps, "eventStore">,
  { host, slug }: LinkAddress,
  scope: string | undefined,
): Promise<LoadedLink | undefined> {
  const repeatable = repeatableLink({ host, slug }, scope);
  const loaded = await loadStream(eventStore, repeatable);
  const { link } = loaded.state;
  if (link.status === "free") return undefined;
  const { accountId, deleted } = link;
  return { host, slug, accountId, deleted, scope, command: { ...repeatable, loaded } };
}

/** As foldedLink. The ids of a repeatable request's events are derived, and those that it appended before known by them. */
function repeatableLink({ host, slug }: LinkAddress, scope: string | undefined) {
  const idsOf = (of: string) => Array.from({ length: MOST_EVENTS }, (_, n) => derivedId("change", of, n));
  const ids = scope === undefined ? [] : idsOf(scope);
  const initial: RepeatableLink = { link: freeLink };
  return {
    stream: linkStream(host, slug),
    initial,
    fold({ link, made }: RepeatableLink, event: LinkEvent & { id?: string; position?: Position }) {
      const next = evolve(link, event);
      const isOfRequest = event.id !== undefined && ids.includes(event.id);
      const changed = isOfRequest ? { link: next as ExistingLink, position: event.position } : made;
      return { link: next, ...(changed && { made: changed }) };
    },
    ...(scope !== undefined && { eventId: (n: number) => ids[n] as string }),
  };
}

/** Strongly consistent, unlike the `links` projection. */
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

/**
 * Runs `decide` on the link's current state and appends what it returns (handle-command.ts). `link`: as it is
 * then.
 */
export async function onLink(
  deps: CommandDeps,
  context: CommandContext,
  { host, slug }: LinkAddress,
  decide: (link: LinkState, at: string) => readonly LinkEvent[],
): Promise<Appended & { link: LinkState }> {
  const at = deps.clock().toISOString();
  const command = { ...foldedLink(host, slug), decide: (link: LinkState) => decide(link, at) };
  const { state, position } = await handleCommand(deps, context, command);
  return { link: state, position };
}
