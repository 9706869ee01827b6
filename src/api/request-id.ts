// Every request has an id that ends in its answer, its log lines and the events it caused.
import type { IncomingMessage } from "node:http";

export type RequestIdOf = (request: Pick<IncomingMessage, "headers">) => string;

const SANE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * The caller's own `x-request-id` when it is harmless to log and store. Else the random `start` of this process and a
 * number: a redirect costs so little that a random id for each request would be a third of it.
 */
export function requestIds(start: string): RequestIdOf {
  let number = 0;
  return ({ headers }) => {
    const given = headers["x-request-id"];
    if (typeof given === "string" && SANE.test(given)) return given;
    number += 1;
    return `${start}-${number.toString(36)}`;
  };
}
