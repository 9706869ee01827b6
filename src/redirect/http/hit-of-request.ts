// Copies from a request the raw values that the writer thread turns into a click event.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { RawHit } from "../clicks/hit.ts";
import type { Target } from "../lookup/link-entry.ts";
import type { Requester } from "./requester.ts";

/** `query`: of the short URL, raw. `at`: milliseconds since 1970. */
export function hitOf(
  target: Target,
  { request, query }: { request: IncomingMessage; query: string },
  requester: Requester,
  at: number,
): RawHit {
  const { headers, method } = request;
  return {
    link: target.packed,
    at,
    method: method === "HEAD" || method === "POST" ? method : "GET",
    query,
    address: requester.address(request),
    country: requester.countryOf(request),
    userAgent: headers["user-agent"] ?? "",
    referrer: utf8Of(headers.referer ?? ""),
    language: headers["accept-language"] ?? "",
    prefetch: String(
      headers["sec-purpose"] ?? headers.purpose ?? headers["x-purpose"] ?? headers["x-moz"] ?? "",
    ),
  };
}

/** Node reads headers byte by byte, as Latin-1; browsers of some apps send the address as raw UTF-8. */
function utf8Of(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  const bytes = Buffer.from(header, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : header;
}
