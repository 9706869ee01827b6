// The error of Redis, whose callers continue without it, for example with rate limits per process.
import { DomainError } from "../runtime/errors.ts";

/** Redis is unavailable; whether a write in flight was applied is unknown. */
export class CoordinationUnavailable extends DomainError {
  override readonly code = "coordination_unavailable";
}
