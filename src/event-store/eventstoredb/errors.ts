// Which failures of the event store are transient, and how long to retry before the store counts as unavailable.
import { StoreFailed, StoreUnavailable } from "../../connections/errors.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { DomainError, messageOf } from "../../runtime/errors.ts";
import type { Sleep } from "../../runtime/pause.ts";

export type Backoff = { sleep: Sleep; random: () => number };

/** Types of both clients' errors that a restart, an election, a busy server or a lost connection end in. */
const TRANSIENT = new Set(["timeout", "deadline-exceeded", "unavailable", "cancelled", "not-leader"]);

const MISSING = new Set(["stream-not-found", "stream-deleted", "stream-tombstoned"]);

/** gRPC's own word for a failure without a code. */
const UNKNOWN = 2;

/** gRPC codes that stay `unknown` to the clients: of these, a bad request or a missing method never heals. */
const LASTING_CODES = new Set([3 /* INVALID_ARGUMENT */, 9, 11, 12 /* UNIMPLEMENTED */]);

/** Our own time limit passed: whether the server handled the request is unknown. */
export class NoAnswer extends Error {
  readonly type = "timeout";
  constructor(what: string, afterMs: number) {
    super(`The event store gave no answer to ${what} within ${afterMs} ms`);
  }
}

/** No node of the cluster could be found that takes requests. */
export class NoNode extends Error {
  readonly type = "unavailable";
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** A read of a stream that doesn't exist. */
export class MissingStream extends Error {
  readonly type = "stream-not-found";
}

/** The stream is not at the revision that an append expected; `actual` is its last revision or `none`. */
export class WrongRevision extends Error {
  readonly actual: number | "none";
  constructor(actual: number | "none") {
    super(`The stream is at revision ${actual}`);
    this.actual = actual;
  }
}

/**
 * The error with the type by which it is told apart. `classify` is the client's own function for gRPC errors, which
 * some of its calls don't use. A client that finds no node fails with a plain Error without type or code.
 */
export function typedError(error: unknown, classify: (error: Error) => unknown): unknown {
  if (!(error instanceof Error) || typeOf(error) !== undefined) return error;
  if (codeOf(error) !== undefined) return classify(error);
  return error.constructor === Error && !("code" in error) ? new NoNode(error) : error;
}

/** True when the same request may succeed a moment later; an append that failed so may have been committed. */
export function isTransient(error: unknown): boolean {
  const type = typeOf(error);
  return type === "unknown" ? !LASTING_CODES.has(codeOf(error) ?? UNKNOWN) : TRANSIENT.has(type ?? "");
}

/** A read of the log from where no event starts, which the server tells in words beside INVALID_ARGUMENT. */
export function isInvalidPosition(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === 3 && /invalid position/i.test(error.message);
}

/** A missing or deleted stream: a reader finds nothing there. */
export function isMissingStream(error: unknown): boolean {
  return MISSING.has(typeOf(error) ?? "");
}

const ATTEMPTS = 4;
const RETRY = { fromMs: 200, toMs: 1_000 };

/** A caller waits no longer than this, and one attempt, for a server that takes requests and doesn't answer. */
const GIVE_UP_MS = 10_000;

/**
 * Tries up to four times, about a second in all when the server refuses at once.
 * @throws StoreUnavailable when every attempt failed with a transient error; StoreFailed for any other at once, errors
 * of our own unchanged
 */
export async function withRetries<T>(backoff: Backoff, work: (attempt: number) => Promise<T>): Promise<T> {
  const started = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!isTransient(error)) throw lasting(error);
      if (attempt === ATTEMPTS || performance.now() - started > GIVE_UP_MS) throw unavailable(error);
      await backoff.sleep(backoffMs(attempt, RETRY, backoff.random));
    }
  }
}

function unavailable(cause: unknown): StoreUnavailable {
  const reason = messageOf(cause);
  return new StoreUnavailable(`The event store can't be reached: ${reason}`, { cause });
}

/** Such as refused credentials. */
export function lasting(cause: unknown): unknown {
  if (cause instanceof DomainError) return cause;
  return new StoreFailed(`The event store refuses the request: ${messageOf(cause)}`, { cause });
}

/** Both clients' word for what failed. */
function typeOf(error: unknown): string | undefined {
  const { type } = (error ?? {}) as { type?: unknown };
  return error instanceof Error && typeof type === "string" ? type : undefined;
}

/** gRPC's status code; Node's own errors have words there. */
function codeOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
}
