// Which failures of EventStoreDB pass by themselves, and how long to try before the store counts as away.
import { isCommandError, StreamDeletedError, StreamNotFoundError } from "@eventstore/db-client";
import { StoreUnavailable } from "./port.ts";

/** `sleep` resolves early, and quietly, when the signal aborts. */
export type Backoff = { sleep: (ms: number, signal?: AbortSignal) => Promise<void>; random: () => number };

/** Types of db-client 6.2.1 that a restart, an election, a busy server or a lost connection end in. */
const TRANSIENT = new Set(["timeout", "deadline-exceeded", "unavailable", "cancelled", "not-leader"]);

/** gRPC codes that stay `unknown` to the client: of these, a bad request or a missing method never heals. */
const LASTING_CODES = new Set([3 /* INVALID_ARGUMENT */, 9, 11, 12 /* UNIMPLEMENTED */]);

/** Our own time limit passed: what became of the request is unknown. */
export class NoAnswer extends Error {
  constructor(what: string, afterMs: number) {
    super(`EventStoreDB gave no answer to ${what} within ${afterMs} ms`);
  }
}

/** True when the same request may succeed a moment later; an append that failed so may have been taken. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NoAnswer) return true;
  if (isClientError(error)) {
    if (error.type === "unknown") return !LASTING_CODES.has(error.code ?? 2);
    return TRANSIENT.has(error.type);
  }
  return error instanceof Error && error.message.startsWith("Failed to discover");
}

/** A missing or deleted stream: a reader finds nothing there. */
export function isMissingStream(error: unknown): boolean {
  return error instanceof StreamNotFoundError || error instanceof StreamDeletedError;
}

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;

/**
 * Tries up to four times, about a second in all when the server refuses at once.
 * @throws StoreUnavailable when every attempt failed in a way that passes by itself; any other error at once
 */
export async function withRetries<T>(backoff: Backoff, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (attempt === ATTEMPTS) throw unavailable(error);
      const longest = FIRST_PAUSE_MS * 2 ** attempt;
      await backoff.sleep(longest / 2 + (backoff.random() * longest) / 2);
    }
  }
}

export function unavailable(cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailable(`EventStoreDB can't be reached: ${reason}`, { cause });
}

/** The client's guard takes an Error only and hides `code` of unknown errors from the type. */
function isClientError(error: unknown): error is Error & { type: string; code?: number } {
  return error instanceof Error && isCommandError(error);
}
