// Rows of the delivery queue's tables, and their conversion to the port's types.
import type { Attempt, Delivery, DeliveryState } from "./queue.ts";

export type DeliveryRow = {
  id: string;
  webhook_id: string;
  event_id: string;
  event: string;
  state: DeliveryState;
  created_at: string;
  due_at: string | null;
  finished_at: string | null;
  tries: number;
  last: string | null;
};

export type ClaimedRow = DeliveryRow & { due_at: string; body: string };

/** `attempt`: JSON of the attempt without its answer. */
export type AttemptRow = { attempt: string; answer: string };

export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    event: row.event,
    state: row.state,
    createdAt: row.created_at,
    dueAt: row.due_at,
    finishedAt: row.finished_at,
    tries: row.tries,
    lastAttempt: row.last === null ? null : JSON.parse(row.last),
  };
}

export function attemptOf({ attempt, answer }: AttemptRow): Attempt {
  return { ...JSON.parse(attempt), answer };
}
