// Writes the redirect's answers to Node's own response: 301, or 404, 451 and 503 as a page or as JSON.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { LinkEntry } from "../lookup/link-entry.ts";
import { plainPage } from "./plain-page.ts";

/** Browsers and proxies must revalidate each visit, so that it is counted and sees a changed link. */
const CACHE_CONTROL = "private, max-age=0, must-revalidate";
const RETRY_AFTER_SECONDS = 1;

export function answerMoved(entry: LinkEntry, response: ServerResponse): void {
  response
    .writeHead(301, ["location", entry.location, "cache-control", CACHE_CONTROL, "content-length", "0"])
    .end();
}

/** 404, never cached: a link that is created a moment later must work. */
export function answerNotFound(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  const error = "Short link not found";
  const advice = "Please check the address for typing errors.";
  answerError(request, response, 404, { error, advice, code: "link_not_found", requestId });
}

/**
 * What the operator has blocked: 404, or 451 (RFC 7725) where the law demands it. The reason is for the owner alone.
 * `legallyBy`: address of who blocks it for a legal reason.
 */
export function answerBlocked(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  legallyBy: string | undefined,
): void {
  const advice = "The operator of this service has blocked it.";
  if (legallyBy === undefined) {
    const error = "This short link is blocked";
    answerError(request, response, 404, { error, advice, code: "link_blocked", requestId });
    return;
  }
  response.setHeader("link", `<${legallyBy}>; rel="blocked-by"`);
  const error = "This short link is unavailable for legal reasons";
  answerError(request, response, 451, { error, advice, code: "link_blocked_legally", requestId });
}

/** 503 with Retry-After: a store or the recorder is temporarily unavailable. */
export function answerUnavailable(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  code: string,
): void {
  response.setHeader("retry-after", RETRY_AFTER_SECONDS);
  const error = "The short link cannot be followed just now; please try again";
  const advice = "The fault is in the service, not in the address.";
  answerError(request, response, 503, { error, advice, code, requestId });
}

/** `advice`: what the page says besides; or `page`: another one. */
type ErrorText = { error: string; code: string; requestId: string } & ({ advice: string } | { page: string });

export function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { error, code, requestId, ...shown }: ErrorText,
): void {
  const isPage = request.headers.accept?.includes("text/html") ?? false;
  const page = "page" in shown ? shown.page : plainPage(error, shown.advice);
  const body = isPage ? page : JSON.stringify({ error, code, request_id: requestId });
  response
    .writeHead(status, {
      "x-request-id": requestId,
      "cache-control": "no-store",
      "content-type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
    })
    .end(body);
}
