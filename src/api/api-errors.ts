// Error responses of API routes for the OpenAPI document (interface, part 7).
import { ErrorAnswerSchema } from "./schemas.ts";

const DESCRIPTIONS = {
  400: "Invalid URL, URL flagged unsafe, invalid body, or invalid, unverified or inactive domain",
  401: "Missing or invalid API key",
  402: "The feature needs the Developer tier",
  403: "No access to the resource, such as another user's link",
  404: "Not found",
  409: "The custom slug already exists on the domain, or the Idempotency-Key was used with another body",
  422: "Invalid custom slug format",
  429: "Rate limit exceeded; Retry-After: seconds to wait",
  500: "Internal server error",
  503: "A store is unavailable; Retry-After: seconds to wait",
} as const;

type ErrorStatus = keyof typeof DESCRIPTIONS;

/** Response schemas for the given statuses; 429, 500 and 503 are added to every route. */
export function apiErrors(...statuses: ErrorStatus[]) {
  const all: ErrorStatus[] = [...statuses, 429, 500, 503];
  return Object.fromEntries(
    all.map((status) => [status, ErrorAnswerSchema.describe(DESCRIPTIONS[status])]),
  ) as Record<ErrorStatus, typeof ErrorAnswerSchema>;
}
