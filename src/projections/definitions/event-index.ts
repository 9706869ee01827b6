// Where each event but those of clicks and seals is: for look-ups by account, actor and correlation id.

import { catalogue, type EventType } from "../../events/catalogue.ts";
import { clickEvents } from "../../events/click-events.ts";
import { logEvents, sealEvents } from "../../events/log-events.ts";
import { metadataOf } from "../../events/read-event.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/**
 * `_id`: `recordedAt`, `@` and the position, so that documents sort by time and a range of times is one of ids. `actor`:
 * its type, and `:` and its id where it has one. `opens`: whether it is the first event of its stream.
 */
export type EventIndexDocument = Document & {
  category: string;
  opens: boolean;
  stream: string;
  revision: number;
  type: string;
  account: string | null;
  actor: string;
  actorType: Actor["type"];
  correlationId: string;
};

const INDEXED = ["category", "account", "actor", "actorType", "correlationId", "type"] as const;

/** How look-ups name an actor. */
export function actorKey(actor: Actor): string {
  return actor.id === undefined ? actor.type : `${actor.type}:${actor.id}`;
}

/** Clicks are left out: they are found by time and link (queries/audit/find-clicks.ts), at no cost for each of them. */
export const eventIndex: Projection<EventIndexDocument> = {
  collection: { name: "event-index", indexes: INDEXED.map((field) => [field]) },
  handles: (Object.keys(catalogue) as EventType[]).filter(
    (type) => !(type in clickEvents || type in sealEvents || type in logEvents),
  ),
  key: ({ recordedAt, position }) => `${recordedAt}@${position}`,
  empty: (event) => {
    const { stream, revision, type, data } = event;
    const { actor, correlationId } = metadataOf(event);
    return {
      category: categoryOf(stream),
      opens: revision === 0,
      stream,
      revision,
      type,
      account: "accountId" in data ? data.accountId : null,
      actor: actorKey(actor),
      actorType: actor.type,
      correlationId,
    };
  },
  evolve: (document) => document,
};
