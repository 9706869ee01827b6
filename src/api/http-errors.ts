// Maps errors to HTTP: code to status, and the body of every error response (interface, part 7).
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import { StoreFailed } from "../connections/errors.ts";
import { EventUnreadable } from "../events/read-event.ts";
import { ProjectionNotBuilt } from "../projections/builds/errors.ts";
import { DomainError } from "../runtime/errors.ts";

export type ErrorBody = { error: string; code: string; request_id: string };
export type HttpError = { status: number; code: string; message: string; retryAfter?: number };

/** DomainError code to status (interface, part 7); a code that is not listed here gives 500 and `internal_error`. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_content_type: 400,
  body_too_large: 400,
  invalid_idempotency_key: 400,
  invalid_address: 400,
  invalid_url: 400,
  unsafe_url: 400,
  invalid_domain: 400,
  custom_slug_needs_domain: 400,
  invalid_cursor: 400,
  invalid_position: 400,
  invalid_range: 400,
  invalid_webhook: 400,
  invalid_withdrawal: 400,
  invalid_reason: 400,
  invalid_link: 400,
  webhook_limit_reached: 400,
  invalid_email: 400,
  password_refused: 400,
  invalid_api_key: 401,
  account_not_found: 401,
  wrong_credentials: 401,
  invalid_admin_token: 401,
  tier_required: 402,
  forbidden: 403,
  form_refused: 403,
  wrong_password: 403,
  link_not_yours: 403,
  webhook_held: 403,
  not_found: 404,
  link_not_found: 404,
  link_expired: 404,
  webhook_not_found: 404,
  key_not_found: 404,
  domain_not_found: 404,
  unknown_projection: 404,
  withdrawal_not_found: 404,
  nothing_to_withdraw: 409,
  withdrawals_changed: 409,
  already_restored: 409,
  slug_taken: 409,
  link_deleted: 409,
  link_blocked: 409,
  email_taken: 409,
  key_limit_reached: 409,
  history_full: 409,
  idempotency_key_reused: 409,
  rotation_under_way: 409,
  webhook_key_missing: 409,
  build_in_progress: 409,
  nothing_else_answers: 409,
  no_previous_build: 409,
  nothing_to_activate: 409,
  verification_in_progress: 409,
  invalid_slug: 422,
  rate_limit_exceeded: 429,
  event_unreadable: 500,
  too_many_streams: 429,
  store_failed: 500,
  store_unavailable: 503,
  too_busy: 503,
  coordination_unavailable: 503,
  revision_conflict: 503,
  event_newer: 503,
  qr_busy: 503,
};

/** Fastify's own errors in terms of the interface, which lists no 405, 413 or 415. */
const CODE_OF_FASTIFY: Readonly<Record<string, [code: string, message: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "invalid_content_type",
    "This Content-Type is not accepted: the API takes application/json, pages take application/x-www-form-urlencoded",
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [
    "body_too_large",
    "The body is too large: at most 1 MiB is accepted, forms may have 64 KiB",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid_request", "The body is not as long as Content-Length says"],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["invalid_json", "The body is empty: a JSON object is expected"],
  FST_ERR_CTP_INVALID_JSON_BODY: ["invalid_json", "The body is not valid JSON"],
  FST_ERR_BAD_URL: ["invalid_address", "The address is not a valid URL path"],
};

/** Only what depends on the one stream is answered so. */
const UNREADABLE = "An event that this depends on can't be read: the operator of the service has to mend it";

/** The errors' own messages are for the log alone. */
const UNAVAILABLE = { message: "The service is not available just now", retryAfter: 2 } as const;

/** Without a time to try again: it lasts until somebody acts. */
const FAILED = { message: "The service can't answer this until its operator has mended its store" } as const;

/** Error handler of all routes. Server errors (5xx) are logged; their details are not shown. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = httpErrorOf(error);
  if (known.status >= 500) request.log.error({ err: error, code: known.code }, "request failed");
  const isShorten = request.routeOptions.url?.startsWith("/api/v1/shorten");
  const message =
    known.message || (isShorten ? "Failed to create the short link" : "Something went wrong on our side");
  if (known.retryAfter !== undefined) reply.header("retry-after", String(known.retryAfter));
  return reply
    .code(known.status)
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send({ error: message, code: known.code, request_id: request.id } satisfies ErrorBody);
}

/** Status, code and message of any error; with an empty message `sendError` takes the route's default. */
export function httpErrorOf(error: unknown): HttpError {
  if (hasZodFastifySchemaValidationErrors(error)) {
    const context = error.validationContext === "querystring" ? "query" : (error.validationContext ?? "body");
    const message = error.validation.map((issue) => issueText(context, issue)).join("; ");
    return { status: 400, code: "invalid_request", message: clip(message) };
  }
  if (error instanceof DomainError) {
    const { code } = error;
    const status = STATUS_OF_CODE[code];
    if (status === 503 && !(error instanceof ProjectionNotBuilt)) return { status, code, ...UNAVAILABLE };
    if (error instanceof StoreFailed) return { status: 500, code, ...FAILED };
    if (error instanceof EventUnreadable) return { status: 500, code, message: UNREADABLE };
    // Errors that know when to try again have it as a member, in seconds.
    const { retryAfter } = error as { retryAfter?: number };
    const retry = retryAfter === undefined ? {} : { retryAfter };
    if (status !== undefined) return { status, code, message: clip(error.message), ...retry };
  }
  return fastifyErrorOf(error) ?? { status: 500, code: "internal_error", message: "" };
}

function fastifyErrorOf(error: unknown): HttpError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = CODE_OF_FASTIFY[code ?? ""];
  if (known) return { status: STATUS_OF_CODE[known[0]] ?? 400, code: known[0], message: known[1] };
  if (error instanceof SyntaxError && statusCode === 400)
    return { status: 400, code: "invalid_json", message: "The body is not valid JSON" };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { status: 400, code: "invalid_request", message: "The request is not valid" };
  return undefined;
}

function issueText(context: string, issue: { instancePath: string; message?: string | undefined }): string {
  const field = issue.instancePath.replace(/^\//, "").replaceAll("/", ".");
  return `${field === "" ? context : `${context} field "${field}"`}: ${issue.message ?? "is not valid"}`;
}

function clip(message: string): string {
  return message.length > 500 ? `${message.slice(0, 500).toWellFormed()}…` : message;
}
