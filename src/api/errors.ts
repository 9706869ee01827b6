// Errors of the HTTP layer: authentication, rate limits, routing, request format.
import { DomainError } from "../runtime/errors.ts";

/** Interface, part 5: 401 for a missing and for an invalid key, with one message. */
export class InvalidKey extends DomainError {
  override readonly code = "invalid_api_key";
  constructor() {
    super("Missing or invalid API key: send a valid key in the X-API-Key header");
  }
}

/** Interface, part 8. `retryAfter`: seconds. */
export class RateLimitExceeded extends DomainError {
  override readonly code = "rate_limit_exceeded";
  readonly retryAfter: number;
  constructor(limit: number, retryAfter: number, message?: string) {
    super(message ?? `Rate limit of ${limit} requests per hour exceeded: try again in ${retryAfter} seconds`);
    this.retryAfter = retryAfter;
  }
}

/** Of passwords, tokens or mails: for people. */
export class TooManyTries extends RateLimitExceeded {
  constructor(limit: number, retryAfter: number) {
    const minutes = Math.ceil(retryAfter / 60);
    super(limit, retryAfter, `Too many tries. Please wait ${minutes} minutes and try again.`);
  }
}

export class RouteNotFound extends DomainError {
  override readonly code = "not_found";
  constructor(message = "There is nothing at this address") {
    super(message);
  }
}

/** A body, query or header that violates the OpenAPI document. */
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

/** A form that another site sent (CSRF). */
export class FormRefused extends DomainError {
  override readonly code = "form_refused";
  constructor() {
    super("This form came from another page: open it here, and send it again");
  }
}
