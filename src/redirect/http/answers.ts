// Writes the redirect's answers to Node's own response: a redirect, or 404, 451 and 503 as a page or as JSON.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RedirectCode } from "../../events/link-options.ts";
import { plainPage } from "./plain-page.ts";

/** Browsers and proxies must revalidate each visit, so that it is counted and sees a changed link. */
const CACHE_CONTROL = "private, max-age=0, must-revalidate";
const RETRY_AFTER_SECONDS = 1;

/**
 * The answer to a form, whatever the link's own code: 307 and 308 would send the password on to the destination.
 */
export const SEE_OTHER = 303;

export function answerMoved(
  location: string,
  response: ServerResponse,
  code: RedirectCode | typeof SEE_OTHER = 301,
  cacheControl = CACHE_CONTROL,
): void {
  response
    .writeHead(code, ["location", location, "cache-control", cacheControl, "content-length", "0"])
    .end();
}

/** The next visitor, or the same one later, may be led elsewhere. */
export function answerMovedForNow(
  location: string,
  response: ServerResponse,
  code: RedirectCode | typeof SEE_OTHER,
): void {
  answerMoved(location, response, code, "no-store");
}

/** 404, never cached: a link that is created a moment later must work. */
export function answerNotFound(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  const error = "Short link not found";
  const advice = "Please check the address for typing errors.";
  answerError(request, response, 404, { error, advice, code: "link_not_found", requestId });
}

const NOT_NOW = {
  link_not_active: {
    error: "This short link is not active yet",
    advice: "It will work later. Whoever gave it to you can say when.",
  },
  link_expired: {
    error: "This short link has expired",
    advice: "Whoever gave it to you may have a new one.",
  },
  link_exhausted: {
    error: "This short link has been opened as often as it may be",
    advice: "Whoever gave it to you may have a new one.",
  },
} as const;

export type NotNow = keyof typeof NOT_NOW;

/** 404 for a link before or after the time that its owner has set, or beyond its clicks. */
export function answerNotNow(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  code: NotNow,
): void {
  answerError(request, response, 404, { ...NOT_NOW[code], code, requestId });
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
