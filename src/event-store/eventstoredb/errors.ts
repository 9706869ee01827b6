// Which failures of EventStoreDB pass by themselves, and how long to try before the store counts as away.
import {
  convertToCommandError,
  isCommandError,
  StreamDeletedError,
  StreamNotFoundError,
} from "@eventstore/db-client";
import { backoffMs } from "../../runtime/backoff.ts";
import { messageOf } from "../../runtime/errors.ts";
import { StoreUnavailable } from "../port.ts";

/** `sleep` resolves early, and quietly, when the signal aborts. */
export type Backoff = { sleep: (ms: number, signal?: AbortSignal) => Promise<void>; random: () => number };

/** Types of db-client 6.2.1 that a restart, an election, a busy server or a lost connection end in. */
const TRANSIENT = new Set(["timeout", "deadline-exceeded", "unavailable", "cancelled", "not-leader"]);

/** gRPC's own word for a failure without a code. */
const UNKNOWN = 2;

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
  if (!(error instanceof Error)) return false;
  if (error instanceof NoAnswer || error.message.startsWith("Failed to discover")) return true;
  const type = clientType(error);
  return type === "unknown" ? !LASTING_CODES.has(codeOf(error) ?? UNKNOWN) : TRANSIENT.has(type ?? "");
}

/** A missing or deleted stream: a reader finds nothing there. */
export function isMissingStream(error: unknown): boolean {
  return error instanceof StreamNotFoundError || error instanceof StreamDeletedError;
}

const ATTEMPTS = 4;
const RETRY = { fromMs: 200, toMs: 1_000 };

/** A caller waits no longer than this, and one attempt, for a server that takes requests and stays silent. */
const GIVE_UP_MS = 10_000;

/**
 * Tries up to four times, about a second in all when the server refuses at once.
 * @throws StoreUnavailable when every attempt failed in a way that passes by itself; any other error at once
 */
export async function withRetries<T>(backoff: Backoff, work: (attempt: number) => Promise<T>): Promise<T> {
  const started = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (attempt === ATTEMPTS || performance.now() - started > GIVE_UP_MS) throw unavailable(error);
      await backoff.sleep(backoffMs(attempt, RETRY, backoff.random));
    }
  }
}

export function unavailable(cause: unknown): StoreUnavailable {
  const reason = messageOf(cause);
  return new StoreUnavailable(`EventStoreDB can't be reached: ${reason}`, { cause });
}

/** The client's word for what went wrong; some of its calls throw gRPC's own error unclassified. */
function clientType(error: Error): string | undefined {
  if (isCommandError(error)) return error.type;
  return codeOf(error) === undefined ? undefined : clientType(convertToCommandError(error) as Error);
}

/** gRPC's status code; Node's own errors have words there. */
function codeOf(error: Error): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
}
