// Reads back one link from its own stream, so that a repeated request gets the answer of the first.
import { type EventStore, type Position, StoreUnavailable } from "../../event-store/port.ts";
import type { LinkEvent } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkStream } from "../../events/streams.ts";
import { loadStream } from "../handle-command.ts";
import { type ExistingLink, evolve, freeLink, type LinkState } from "./link.ts";

/** A link by its own history: as it was made, which answers a repeated request, and as it is now. */
export type LinkHistory = {
  asCreated: ExistingLink;
  now: ExistingLink;
  revision: number;
  position: Position;
};

/** The link as its stream says now; never a moment behind. */
export async function currentLink(eventStore: EventStore, host: string, slug: string): Promise<LinkState> {
  const folded = { stream: linkStream(host, slug), initial: freeLink, fold: evolve };
  return (await loadStream(eventStore, folded)).state;
}

/** `position`: of its first event. @throws StoreUnavailable when an appended link can't be read back */
export async function loadLinkHistory(
  eventStore: EventStore,
  host: string,
  slug: string,
): Promise<LinkHistory> {
  const stream = linkStream(host, slug);
  const folded = { stream, initial: freeLink, fold: evolve };
  const [created] = await eventStore.read(stream, { limit: 1 });
  const event = created && readEvent(created);
  const { state: now, revision } = await loadStream(eventStore, folded);
  if (!created || event?.type !== "LinkCreated" || now.status === "free" || revision === "none")
    throw new StoreUnavailable(`${stream} can't be read back after it was appended`);
  const asCreated = evolve(freeLink, event as LinkEvent) as ExistingLink;
  return { asCreated, now, revision, position: created.position };
}
