// One link of an account with its history, from the link's own stream: strongly consistent.
import type { Actor, EventStore } from "../../event-store/port.ts";
import type { LinkEvent, StoredEvent } from "../../events/catalogue.ts";
import { linkKey } from "../../events/streams.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { NotFound } from "../errors.ts";
import { linkFromStream } from "./link-from-stream.ts";

/** `position`: of LinkCreated; no click precedes it. `history`: oldest first. */
export type LinkWithHistory = { link: LinkDocument; position: string; history: LinkStep[] };

/** `from`, `to`: for a change of destination; LinkCreated has `to` only. */
export type LinkStep = {
  type: LinkEvent["type"];
  at: string;
  actor: Actor;
  revision: number;
  from?: string | undefined;
  to?: string | undefined;
};

/** Finds deleted links too, which their owner may restore. @throws NotFound also for another account's link */
export async function linkHistory(
  { eventStore }: { eventStore: EventStore },
  accountId: string,
  host: string,
  slug: string,
): Promise<LinkWithHistory> {
  let position = "";
  const history: LinkStep[] = [];
  const link = await linkFromStream(eventStore, linkKey(host, slug), (event) => {
    position ||= event.position;
    history.push(stepOf(event));
  });
  if (!link || link.accountId !== accountId) throw new NotFound("Short link not found.");
  return { link, position, history };
}

function stepOf(event: StoredEvent): LinkStep {
  const { revision, metadata, data } = event;
  const step = { type: event.type as LinkEvent["type"], at: data.at, actor: metadata.actor, revision };
  if (event.type === "LinkCreated") return { ...step, to: event.data.longUrl };
  if (event.type === "LinkRetargeted") return { ...step, from: event.data.from, to: event.data.to };
  return step;
}
