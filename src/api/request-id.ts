// Every request has an id that ends in its answer, its log lines and the events it caused.

const SANE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The caller's own `x-request-id` when it is harmless to log and store, else a new one. */
export function requestIdFrom(given: string | string[] | undefined, newId: () => string): string {
  return typeof given === "string" && SANE.test(given) ? given : newId();
}

/**
 * Ids of one process: its own random start, then a number. A redirect costs so little that a random id for each
 * request would be a third of it.
 */
export function requestIds(start: string): () => string {
  let number = 0;
  return () => `${start}-${(++number).toString(36)}`;
}
