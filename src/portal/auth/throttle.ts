// Limits attempts at passwords and other costly requests by client address, account, and both together, and how many
// passwords are hashed at once.
import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import pLimit from "p-limit";
import {
  addressOf,
  byAddress,
  type RateLimits,
  type RateWindow,
  tooManyTries,
} from "../../api/limits/rate-limit.ts";
import { accountByEmailSecret } from "../../commands/account/secrets.ts";
import { Refused } from "../../runtime/refused.ts";

type Deps = { rateLimits: RateLimits; clock: () => Date };

/**
 * Per hour. The limit per account is wider than per pair, so that knowing an address is not enough to lock its owner
 * out quickly.
 */
const TRIES = { pair: 15, account: 100, address: 100, device: 15, session: 15 } as const;

const MAILS = 5;

/**
 * Counts a sign-in attempt. A browser with a device cookie of the account (`deviceId`) has a limit of its own, which
 * attempts of others don't use up.
 * @throws rate_limit_exceeded
 */
export async function countSignIn(
  deps: Deps,
  request: FastifyRequest,
  email: string,
  deviceId: string | undefined,
): Promise<void> {
  if (deviceId !== undefined) return await count(deps, `sign-in-device ${deviceId}`, TRIES.device);
  const account = accountByEmailSecret(email);
  await countByAddress(deps, request, "sign-in-address", TRIES.address);
  await count(deps, `sign-in-pair ${hash("sha256", `${account} ${addressOf(request.ip)}`)}`, TRIES.pair);
  await count(deps, `sign-in-account ${account}`, TRIES.account);
}

/** Counts a re-authentication by password, per session. @throws rate_limit_exceeded */
export async function countReauthentication(deps: Deps, sessionId: string): Promise<void> {
  await count(deps, `proof-session ${sessionId}`, TRIES.session);
}

/** Counts a costly request, such as a sign-up, by client address. @throws rate_limit_exceeded */
export async function countByAddress(
  deps: Deps,
  request: FastifyRequest,
  what: string,
  limit: number,
): Promise<void> {
  await count(deps, byAddress(what, request.ip), limit);
}

/** Counts a costly request by account. @throws rate_limit_exceeded */
export async function countForAccount(
  deps: Deps,
  accountId: string,
  what: string,
  limit: number,
): Promise<void> {
  await count(deps, `${what} ${accountId}`, limit);
}

/** Limits mails per recipient, across all requesters. @throws rate_limit_exceeded */
export async function countMail(deps: Deps, email: string): Promise<void> {
  await count(deps, `mail ${accountByEmailSecret(email)}`, MAILS);
}

async function count({ rateLimits, clock }: Deps, subject: string, limit: number): Promise<void> {
  const now = clock();
  refuseUnlessGranted(await rateLimits.take(subject, limit, now), now);
}

function refuseUnlessGranted(window: RateWindow, now: Date): void {
  if (!window.granted) throw tooManyTries(window, now);
}

type Bounded = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Two queues, so that a flood of unauthenticated attempts does not delay account owners. `known`: requests with a
 * session, a device cookie or a mailed link; `unknown`: all others. Both throw too_busy.
 */
export type PasswordWork = { known: Bounded; unknown: Bounded };

/** At most three of libuv's four threads; one is left for file access and compression. */
const CONCURRENCY = { known: 1, unknown: 2 } as const;
/** About one second of work. */
const MOST_WAITING = 50;

export function passwordWork(): PasswordWork {
  return { known: bounded(CONCURRENCY.known), unknown: bounded(CONCURRENCY.unknown) };
}

function bounded(concurrency: number): Bounded {
  const limit = pLimit(concurrency);
  return async (work) => {
    if (limit.pendingCount >= MOST_WAITING) throw new Refused("too_busy");
    return await limit(work);
  };
}
