// Errors that only HTTP knows: who you are, how often you ask, and which address you asked.
import { DomainError } from "../runtime/errors.ts";

/** Interface, part 5: a missing or invalid key gives 401; both read alike, so that nothing is learnt by trying. */
export class InvalidKey extends DomainError {
  override readonly code = "invalid_api_key";
  constructor() {
    super("Missing or invalid API key: send a valid key in the X-API-Key header");
  }
}

/** Interface, part 8. `retryAfter` in seconds. */
export class RateLimitExceeded extends DomainError {
  override readonly code = "rate_limit_exceeded";
  readonly retryAfter: number;
  constructor(limit: number, retryAfter: number) {
    super(`Rate limit of ${limit} requests per hour exceeded: try again in ${retryAfter} seconds`);
    this.retryAfter = retryAfter;
  }
}

export class RouteNotFound extends DomainError {
  override readonly code = "not_found";
  constructor(message = "There is nothing at this address") {
    super(message);
  }
}

/** A body, query or header that is not what the OpenAPI document says. */
export class InvalidRequest extends DomainError {
  override readonly code: string;
  constructor(message: string, code = "invalid_request") {
    super(message);
    this.code = code;
  }
}

export class IdempotencyKeyReused extends DomainError {
  override readonly code = "idempotency_key_reused";
  constructor() {
    super("This Idempotency-Key was used with another request body: use a new key for a new request");
  }
}
