// Loads one link from its own stream, as it was created and as it is now.
import { StoreUnavailable } from "../../connections/errors.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import type { LinkEvent } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkStream } from "../../events/streams.ts";
import { loadStream } from "../handle-command.ts";
import { type ExistingLink, evolve, freeLink, type LinkState } from "./link.ts";

/** `asCreated` answers a repeated request with the first answer. */
export type LinkHistory = {
  asCreated: ExistingLink;
  now: ExistingLink;
  revision: number;
  position: Position;
};

/** Folds the link's stream: strongly consistent, unlike the `links` projection. */
export async function currentLink(eventStore: EventStore, host: string, slug: string): Promise<LinkState> {
  const folded = { stream: linkStream(host, slug), initial: freeLink, fold: evolve };
  return (await loadStream(eventStore, folded)).state;
}

/** `position`: of LinkCreated. @throws StoreUnavailable when an appended link can't be read back */
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
