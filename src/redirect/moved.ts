// The 301 itself, and the hit that it leaves, on Node's own request and response: for the route and the way past it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RawHit } from "./hit.ts";
import type { LinkEntry } from "./link-entry.ts";
import type { Requester } from "./requester.ts";

/** Asked for again at every visit, so that each one is counted and a changed link works at once (DESIGN §5). */
const CACHE_CONTROL = "private, max-age=0, must-revalidate";

export function answerMoved(entry: LinkEntry, response: ServerResponse): void {
  response
    .writeHead(301, ["location", entry.location, "cache-control", CACHE_CONTROL, "content-length", "0"])
    .end();
}

/** `at`: milliseconds since 1970. */
export function hitOf(entry: LinkEntry, request: IncomingMessage, requester: Requester, at: number): RawHit {
  const { headers, method, url = "" } = request;
  const question = url.indexOf("?");
  return {
    link: entry.packed,
    at,
    method: method === "HEAD" ? "HEAD" : "GET",
    query: question < 0 ? "" : url.slice(question + 1),
    address: requester.address(request),
    userAgent: headers["user-agent"] ?? "",
    referrer: headers.referer ?? "",
    language: headers["accept-language"] ?? "",
    prefetch: purposeOf(
      headers["sec-purpose"] ?? headers.purpose ?? headers["x-purpose"] ?? headers["x-moz"],
    ),
  };
}

function purposeOf(value: string | string[] | undefined): string {
  return value === undefined ? "" : String(value);
}
