// Error responses of API routes for the OpenAPI document (interface, part 7).
import { ErrorAnswerSchema } from "./schemas.ts";

const DESCRIPTIONS = {
  400:
    "Invalid URL (`invalid_url`), URL flagged unsafe (`unsafe_url`), invalid address, body, query or header " +
    "(`invalid_address`, `invalid_request`, `invalid_json`, `invalid_content_type`, `body_too_large`, " +
    "`invalid_cursor`, `invalid_position`, `invalid_range`, `invalid_idempotency_key`), or invalid, unverified or " +
    "inactive domain (`invalid_domain`, `custom_slug_needs_domain`)",
  401: "Missing or invalid API key (`invalid_api_key`)",
  402: "The feature needs the Developer tier (`tier_required`)",
  403: "No access to the resource, such as another user's link (`forbidden`)",
  404: "Not found (`not_found`)",
  409: "The custom slug already exists on the domain (`slug_taken`), or the Idempotency-Key was used with another body (`idempotency_key_reused`)",
  422: "Invalid custom slug format (`invalid_slug`)",
  429: "Rate limit exceeded (`rate_limit_exceeded`), or too many streams (`too_many_streams`); Retry-After: seconds to wait",
  500: "Internal server error (`internal_error`), or a store fails until the operator acts (`store_failed`)",
  503: "A store is unavailable (`store_unavailable`, `coordination_unavailable`) or busy (`revision_conflict`, `qr_busy`); Retry-After: seconds to wait",
} as const;

type ErrorStatus = keyof typeof DESCRIPTIONS;

/** Response schemas for the given statuses; 429, 500 and 503 are added to every route. */
export function apiErrors(...statuses: ErrorStatus[]) {
  const all: ErrorStatus[] = [...statuses, 429, 500, 503];
  return Object.fromEntries(
    all.map((status) => [status, ErrorAnswerSchema.describe(DESCRIPTIONS[status])]),
  ) as Record<ErrorStatus, typeof ErrorAnswerSchema>;
}
