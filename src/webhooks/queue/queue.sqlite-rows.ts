// Rows of the delivery queue's tables, and their conversion to the port's types.
import type { Attempt, Delivery } from "./queue.ts";

/** `last`: JSON of the last attempt. */
export type DeliveryRow = Omit<Delivery, "lastAttempt"> & { last: string | null };

export type RowWithBody = DeliveryRow & { body: string };

/** `attempt`: JSON of the attempt without its answer. */
export type AttemptRow = { attempt: string; answer: string };

export function deliveryOf({ last, ...row }: DeliveryRow): Delivery {
  return { ...row, lastAttempt: last === null ? null : JSON.parse(last) };
}

export function attemptOf({ attempt, answer }: AttemptRow): Attempt {
  return { ...JSON.parse(attempt), answer };
}
