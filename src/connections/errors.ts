// The errors of stores that don't answer: callers retry, go on without, or answer 503.
import { DomainError } from "../runtime/errors.ts";

/** The store is unavailable or closed. Whether an append in flight was stored is unknown: repeat the same append. */
export class StoreUnavailable extends DomainError {
  override readonly code = "store_unavailable";
}

/** What is read, or undefined while its store is unavailable. @throws other errors */
export async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

/** Redis, or the other process of `--workers`, is unavailable; whether a write in flight was applied is unknown. */
export class CoordinationUnavailable extends DomainError {
  override readonly code = "coordination_unavailable";
}
