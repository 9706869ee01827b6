// One link's stream: loads and changes it.

import type { LinkEvent } from "../../events/catalogue.ts";
import { linkStream } from "../../events/streams.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type ExistingLink, evolve, freeLink, type LinkState } from "./link.ts";

/** `host` without port: the base host or a custom domain. */
export type LinkAddress = { host: string; slug: string };

/** `host`: part of the link's identity, without port. `origin`: the start of its short URL. */
export type LinkPlace = { host: string; origin: string; domainId?: string };

/** The stream of a link and how it is folded, for handleCommand and loadStream. */
export function foldedLink(host: string, slug: string) {
  return { stream: linkStream(host, slug), initial: freeLink, fold: evolve };
}

/** `link`: as it is after the change. */
export type ChangedLink = Appended & { link: ExistingLink };

/** Strongly consistent, unlike the `links` projection. */
export async function currentLink(
  eventStore: Pick<EventStore, "read">,
  { host, slug }: LinkAddress,
): Promise<LinkState> {
  return (await loadStream(eventStore, foldedLink(host, slug))).state;
}

/** The event that made it, as it was recorded. */
export async function firstOfLink(
  { eventStore }: { eventStore: Pick<EventStore, "read"> },
  { host, slug }: LinkAddress,
): Promise<RecordedEvent | undefined> {
  return (await eventStore.read(linkStream(host, slug), { limit: 1 }))[0];
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
