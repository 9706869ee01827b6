// Loads one link from its own stream, as it was created and as it is now.
import { StoreUnavailable } from "../../connections/errors.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkStream } from "../../events/streams.ts";
import { loadStream } from "../handle-command.ts";
import { type ExistingLink, evolve, freeLink, type LinkState } from "./link.ts";

/** Folds the link's stream: strongly consistent, unlike the `links` projection. */
export async function currentLink(eventStore: EventStore, host: string, slug: string): Promise<LinkState> {
  return (await loadStream(eventStore, foldedLink(host, slug))).state;
}

/** The stream of a link and how it is folded, for handleCommand and loadStream. */
export function foldedLink(host: string, slug: string) {
  return { stream: linkStream(host, slug), initial: freeLink, fold: evolve };
}

/**
 * What a repeated request is answered with: the link and the position of LinkCreated, without later changes.
 * @throws StoreUnavailable when an appended link can't be read back
 */
export async function linkAsCreated(
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
