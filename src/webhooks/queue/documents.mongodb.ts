// A delivery as one MongoDB document with its attempts, so that settling an attempt is one guarded update.
import type { Attempt, Delivery, NewDelivery } from "./queue.ts";

/** `claim`: the token of its worker. The claim ends at `dueAt`, so that a crashed worker's claim expires. */
export type StoredDelivery = Omit<Delivery, "id"> & {
  _id: string;
  body: string;
  claim: string | null;
  log: Attempt[];
};

/** Projections: without answers, which are large, and without the body, too. */
export const WITHOUT_LOG = { log: 0 } as const;
export const LISTED = { body: 0, log: 0 } as const;

export function stored(id: string, delivery: NewDelivery, now: string): StoredDelivery {
  const { webhookId, eventId, event, body } = delivery;
  const waiting = { state: "pending" as const, createdAt: now, dueAt: now, finishedAt: null };
  return {
    _id: id,
    webhookId,
    eventId,
    event,
    body,
    ...waiting,
    tries: 0,
    claim: null,
    lastAttempt: null,
    log: [],
  };
}

export function deliveryFrom(document: Omit<StoredDelivery, "body" | "log">): Delivery {
  const { _id, webhookId, eventId, event, state, createdAt, dueAt, finishedAt, tries, lastAttempt } =
    document;
  return { id: _id, webhookId, eventId, event, state, createdAt, dueAt, finishedAt, tries, lastAttempt };
}
