// What the redirect answers, on Node's own response: 301, and what a visitor or a program gets instead.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { LinkEntry } from "../lookup/link-entry.ts";
import { plainPage } from "./plain-page.ts";

/** Asked for again at every visit, so that each one is counted and a changed link works at once (DESIGN §5). */
const CACHE_CONTROL = "private, max-age=0, must-revalidate";
const RETRY_AFTER_SECONDS = 1;

export function answerMoved(entry: LinkEntry, response: ServerResponse): void {
  response
    .writeHead(301, ["location", entry.location, "cache-control", CACHE_CONTROL, "content-length", "0"])
    .end();
}

/** Not kept by any cache: a link made a moment later must work. */
export function answerNotFound(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  say(request, response, 404, { error: "Short link not found", code: "link_not_found", requestId });
}

/** 503: a store or the recorder is unavailable for now. */
export function answerUnavailable(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  code: string,
): void {
  response.setHeader("retry-after", RETRY_AFTER_SECONDS);
  const error = "The short link cannot be followed just now; please try again";
  say(request, response, 503, { error, code, requestId });
}

type Words = { error: string; code: string; requestId: string };

function say(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { error, code, requestId }: Words,
): void {
  const isPage = request.headers.accept?.includes("text/html") ?? false;
  const body = isPage
    ? plainPage(error, "Please check the address for typing errors.")
    : JSON.stringify({ error, code, request_id: requestId });
  response
    .writeHead(status, {
      "x-request-id": requestId,
      "cache-control": "no-store",
      "content-type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
    })
    .end(body);
}
