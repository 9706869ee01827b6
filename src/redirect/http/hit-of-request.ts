// Copies from a request the raw values that the writer thread turns into a click event.
import type { IncomingMessage } from "node:http";
import type { RawHit } from "../clicks/hit.ts";
import type { Target } from "../lookup/link-entry.ts";
import type { Requester } from "./requester.ts";

/** `at`: milliseconds since 1970. */
export function hitOf(target: Target, request: IncomingMessage, requester: Requester, at: number): RawHit {
  const { headers, method, url = "" } = request;
  const question = url.indexOf("?");
  return {
    link: target.packed,
    at,
    method: method === "HEAD" || method === "POST" ? method : "GET",
    query: question < 0 ? "" : url.slice(question + 1),
    address: requester.address(request),
    country: requester.countryOf(request),
    userAgent: headers["user-agent"] ?? "",
    referrer: headers.referer ?? "",
    language: headers["accept-language"] ?? "",
    prefetch: String(
      headers["sec-purpose"] ?? headers.purpose ?? headers["x-purpose"] ?? headers["x-moz"] ?? "",
    ),
  };
}
