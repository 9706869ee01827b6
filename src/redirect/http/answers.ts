// Writes the redirect's answers to Node's own response: a redirect, or 404, 451 and 503 as a page or as JSON.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RedirectCode } from "../../events/link-options.ts";
import { type PageLook, plainPage } from "./plain-page.ts";

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

const GONE = "Whoever gave it to you may have a new one.";
const BLOCKED = "The operator of this service has blocked it.";
const UNAVAILABLE = {
  status: 503,
  error: "The short link cannot be followed just now; please try again",
  advice: "The fault is in the service, not in the address.",
} as const;

/** By code. Never cached: a link that is created a moment later must work. Why one is blocked is for its owner alone. */
const REFUSALS = {
  link_not_found: {
    status: 404,
    error: "Short link not found",
    advice: "Please check the address for typing errors.",
  },
  link_not_active: {
    status: 404,
    error: "This short link is not active yet",
    advice: "It will work later. Whoever gave it to you can say when.",
  },
  link_expired: { status: 404, error: "This short link has expired", advice: GONE },
  link_exhausted: {
    status: 404,
    error: "This short link has been opened as often as it may be",
    advice: GONE,
  },
  link_blocked: { status: 404, error: "This short link is blocked", advice: BLOCKED },
  /** RFC 7725. */
  link_blocked_legally: {
    status: 451,
    error: "This short link is unavailable for legal reasons",
    advice: BLOCKED,
  },
  store_unavailable: UNAVAILABLE,
  recorder_busy: UNAVAILABLE,
  too_busy: UNAVAILABLE,
} as const;

export type LinkRefusal = keyof typeof REFUSALS;

export function answerRefused(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  code: LinkRefusal,
  look?: PageLook,
): void {
  const { status, error, advice } = REFUSALS[code];
  if (status === 503) response.setHeader("retry-after", RETRY_AFTER_SECONDS);
  answerError(request, response, status, { error, page: plainPage(error, advice, look), code, requestId });
}

type ErrorText = { error: string; page: string; code: string; requestId: string };

export function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { error, page, code, requestId }: ErrorText,
): void {
  const isPage = request.headers.accept?.includes("text/html") ?? false;
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
