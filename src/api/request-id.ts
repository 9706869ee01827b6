// The request id in the response header, the log lines and the metadata of events.
import type { IncomingMessage } from "node:http";

export type RequestIdOf = (request: Pick<IncomingMessage, "headers">) => string;

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * The caller's `x-request-id` when it is safe to log and store, else this process's random `start` and a counter: a
 * random id for each request would add about a third to the cost of a redirect.
 */
export function requestIds(start: string): RequestIdOf {
  let number = 0;
  return ({ headers }) => {
    const given = headers["x-request-id"];
    if (typeof given === "string" && SAFE.test(given)) return given;
    number += 1;
    return `${start}-${number.toString(36)}`;
  };
}
