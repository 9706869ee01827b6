// Which failures of the event store are transient, and how long to retry before the store counts as unavailable.
import {
  convertToCommandError,
  ErrorType,
  type EventStoreDBClient,
  StreamDeletedError,
} from "@eventstore/db-client";
import { DomainError, Failure, messageOf } from "../../../runtime/errors.ts";
import { backoffMs } from "../../../runtime/keep-trying.ts";
import { pause } from "../../../runtime/pause.ts";
import { StoreFailed, StoreUnavailable } from "../../connections/errors.ts";
import { StreamRemoved } from "../port.ts";
import type { Servers } from "./connection.ts";

export type Deps = {
  servers: Servers;
  random: () => number;
  /** Longest silence of a call. */
  timeoutMs: number;
  /** Longest silence of the log, before it is read to see whether events were missed. */
  silenceMs: number;
};

/** What a call needs its user for; `$all` is the whole log. */
export type Right = { may: "read" | "write"; stream: string };

export const READ_LOG: Right = { may: "read", stream: "$all" };

/** What a restart, an election, a busy server or a lost connection end in. */
const TRANSIENT: unknown[] = ["timeout", "deadline-exceeded", "unavailable", "cancelled", "not-leader"];

/** gRPC codes that stay `unknown` to the client and never heal: a bad request, no permission, a missing method. */
const LASTING_CODES: unknown[] = [3, 7, 9, 11, 12];

const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

const ATTEMPTS = 4;
const RETRY = { fromMs: 200, toMs: 1_000 };

/** A caller waits no longer than this, and one attempt, for a server that takes requests and doesn't answer. */
const GIVE_UP_MS = 10_000;

/** Our own time limit passed: whether the server handled the request is unknown. */
export class NoAnswer extends Error {
  readonly type = ErrorType.TIMEOUT;
  constructor(afterMs: number) {
    super(`The event store gave no answer within ${afterMs} ms`);
  }
}

export function isMissingStream(error: unknown): boolean {
  return named(error).type === "stream-not-found";
}

/** The error of a read; the server tells in words that no event starts at a position. */
export function readError(error: unknown): unknown {
  const isPosition = named(error).code === 3 && /invalid position/i.test(messageOf(error));
  return isPosition
    ? new Failure("This is not a position of this log", { code: "invalid_position", cause: error })
    : error;
}

/**
 * Tries up to four times, about a second in all when the servers refuse at once. `right`: what the work needs.
 * @throws StoreUnavailable when every attempt failed with a transient error; StoreFailed for any other at once, errors
 * of our own unchanged
 */
export async function withRetries<T>(
  { servers, random }: Deps,
  right: Right,
  work: (client: EventStoreDBClient) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const client = servers.current;
    try {
      return await work(client);
    } catch (error) {
      leaveOrThrow(servers, client, error, right);
      if (attempt === ATTEMPTS || performance.now() - started > GIVE_UP_MS)
        throw new StoreUnavailable(`The event store can't be reached: ${messageOf(error)}`, { cause: error });
      await pause(backoffMs(attempt, RETRY, random));
    }
  }
}

/** After a transient error the next server is tried, but where the client goes to the leader that was named. */
export function leaveOrThrow(
  servers: Servers,
  client: EventStoreDBClient,
  error: unknown,
  right: Right,
): void {
  const { type, code } = named(error);
  // Node's words for a call that was still being written when its connection was lost.
  const isBroken = typeof code === "string" && /^ERR_(?:STREAM|HTTP2)_/.test(code);
  const isTransient = type === "unknown" ? !LASTING_CODES.includes(code) : TRANSIENT.includes(type);
  if (!isBroken && !isTransient) throw lasting(error, servers, right);
  if (type !== "not-leader") servers.leave(client);
}

/** What a tombstone on a stream means. */
export const DELETED_FOR_GOOD = "it was deleted for good on the server";

/** Such as refused credentials. */
function lasting(cause: unknown, { user }: Servers, right: Right): unknown {
  if (cause instanceof DomainError) return cause;
  const error = named(cause);
  if (error instanceof StreamDeletedError) return new StreamRemoved(error.streamName, DELETED_FOR_GOOD);
  const missing = whatIsMissing(error.code, user, right);
  const words = [messageOf(cause), ...(missing === undefined ? [] : [missing])].join(": ");
  return new StoreFailed(`The event store refuses the request: ${words}`, { cause });
}

/** Some calls of the client fail with gRPC's own errors, which have no type. */
function named(error: unknown): { type?: unknown; code?: unknown } {
  return error instanceof Error ? (convertToCommandError(error) as { type?: unknown; code?: unknown }) : {};
}

/** By gRPC's code of the refusal; undefined for one that has other causes. `user`: of the connection string. */
function whatIsMissing(code: unknown, user: string | undefined, right: Right): string | undefined {
  if (code !== PERMISSION_DENIED && code !== UNAUTHENTICATED) return undefined;
  if (user === undefined) return "EVENTSTORE_URL names no user, such as esdb://USER:PASSWORD@host:2113";
  const named = JSON.stringify(user);
  if (code === UNAUTHENTICATED)
    return `the server doesn't know the user ${named} of EVENTSTORE_URL by this password, or has disabled it`;
  const { may, stream } = right;
  if (stream !== READ_LOG.stream)
    return `the user ${named} may not ${may} the stream ${stream}: an administrator's default rights ($userStreamAcl in the stream $settings) or the stream's own must let it`;
  return `the user ${named} may not read $all: an administrator grants it by setStreamMetadata("$all", { acl: { readRoles: ["$admins", ${named}] } })`;
}
