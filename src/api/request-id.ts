// The request id in the response header, the log lines and the metadata of events.
import type { IncomingMessage } from "node:http";

export type RequestIdOf = (request: Pick<IncomingMessage, "headers">) => string;

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** An IPv4 address, which some proxies put into their ids, or an API or webhook key; ids in hexadecimal are neither. */
const PRIVATE = /(?<!\d)(?:\d{1,3}\.){3}\d{1,3}(?!\d)|_(?![0-9a-fA-F]{32})[A-Za-z0-9]{32}(?![A-Za-z0-9])/;

/**
 * The caller's `x-request-id` when it is safe to log and store, else this process's random `start` and a counter: a
 * random id for each request would add about a third to the cost of a redirect.
 */
export function requestIds(start: string): RequestIdOf {
  let number = 0;
  return ({ headers }) => {
    const header = headers["x-request-id"];
    if (typeof header === "string" && SAFE.test(header) && !PRIVATE.test(header)) return header;
    number += 1;
    return `${start}-${number.toString(36)}`;
  };
}
