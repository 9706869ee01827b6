// Maps errors to HTTP: code to status, and the body of every error response (interface, part 7).

import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { isRefused, REFUSALS, type RefusalCode, Refused } from "../commands/refusals.ts";
import { ProjectionNotBuilt } from "../projections/builds/errors.ts";
import { DomainError } from "../runtime/errors.ts";
import { cutText } from "../runtime/text/cut-text.ts";

export type ErrorBody = { error: string; code: string; request_id: string };
export type HttpError = { status: number; code: string; message: string; retryAfter?: number };

/** The errors' own messages are for the log alone. */
const UNAVAILABLE = { status: 503, message: "The service is not available just now", retryAfter: 2 } as const;

/** Errors that are no refusals; those that last until somebody acts have no time to try again. */
const ERRORS: Readonly<Record<string, Omit<HttpError, "code">>> = {
  event_unreadable: {
    status: 500,
    message: "An event that this depends on can't be read: the operator of the service has to mend it",
  },
  stream_removed: {
    status: 500,
    message: "Events that this depends on were removed: the operator of the service has to mend its store",
  },
  store_failed: {
    status: 500,
    message: "The service can't answer this until its operator has mended its store",
  },
  // Of a cursor that somebody has changed.
  invalid_position: REFUSALS.invalid_position,
  store_unavailable: UNAVAILABLE,
  coordination_unavailable: UNAVAILABLE,
  revision_conflict: UNAVAILABLE,
  event_newer: UNAVAILABLE,
};

/** Fastify's own errors in terms of the interface, which lists no 413 or 415. */
const CODE_OF_FASTIFY: Readonly<Record<string, [code: RefusalCode, message: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "invalid_content_type",
    "This Content-Type is not accepted: the API takes application/json, pages take application/x-www-form-urlencoded",
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [
    "body_too_large",
    "The body is too large: at most 1 MiB is accepted, forms may have 64 KiB",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid_request", "The body is not as long as Content-Length says"],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["invalid_json", "The body is empty: it must be a JSON object"],
  FST_ERR_CTP_INVALID_JSON_BODY: ["invalid_json", "The body is not valid JSON"],
  FST_ERR_BAD_URL: ["invalid_address", "The address is not a valid URL path"],
};

/** For the log, as nobody receives it; nginx's status. */
const CLIENT_GONE: HttpError = { status: 499, code: "client_gone", message: "The client has disconnected" };

/** Logs what is our fault (5xx), and says when to try again. */
export function reported(error: unknown, request: FastifyRequest, reply: FastifyReply): HttpError {
  const httpError = error === request.signal.reason ? CLIENT_GONE : httpErrorOf(error);
  if (httpError.status >= 500) request.log.error({ err: error, code: httpError.code }, "request failed");
  if (httpError.retryAfter !== undefined) reply.header("retry-after", String(httpError.retryAfter));
  return httpError;
}

/** Error handler of all routes. Details of server errors are not shown. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const httpError = reported(error, request, reply);
  const isShorten = request.routeOptions.url?.startsWith("/api/v1/shorten");
  const message =
    httpError.message || (isShorten ? "Failed to create the short link" : "Something went wrong on our side");
  return reply
    .code(httpError.status)
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send({ error: message, code: httpError.code, request_id: request.id } satisfies ErrorBody);
}

/** Status, code and message of any error; with an empty message `sendError` takes the route's default. */
export function httpErrorOf(error: unknown): HttpError {
  if (error instanceof ProjectionNotBuilt) {
    const { code, message, retryAfter } = error;
    return { status: 503, code, message, retryAfter };
  }
  if (isRefused(error) && error.status !== undefined) {
    const { status, code, message, retryAfter } = error;
    if (status === 503) return { code, ...UNAVAILABLE };
    return { status, code, message: clip(message), ...(retryAfter !== undefined && { retryAfter }) };
  }
  const httpError = error instanceof DomainError ? ERRORS[error.code] : undefined;
  if (httpError) return { code: (error as DomainError).code, ...httpError };
  return fastifyErrorOf(error) ?? { status: 500, code: "internal_error", message: "" };
}

function fastifyErrorOf(error: unknown): HttpError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as Partial<FastifyError>;
  const httpError = CODE_OF_FASTIFY[code ?? ""];
  if (httpError) return { status: 400, code: httpError[0], message: httpError[1] };
  if (error instanceof SyntaxError && statusCode === 400)
    return { status: 400, code: "invalid_json", message: "The body is not valid JSON" };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { status: 400, code: "invalid_request", message: "The request is not valid" };
  return undefined;
}

/** `part`: of the request, as Fastify names it. */
export function refusedRequest(part: string, issues: readonly z.core.$ZodIssue[]): Refused {
  const place = part === "querystring" ? "query" : part;
  const sentences = issues.map(({ path, message }) => {
    const field = path.map(String).join(".");
    return `${field === "" ? place : `${place} field "${field}"`}: ${message}`;
  });
  return new Refused("invalid_request", sentences.join("; "));
}

function clip(message: string): string {
  return message.length > 500 ? `${cutText(message, 500)}…` : message;
}
