// Limits attempts at passwords, and other costly or abusable requests, by client address, account, and both together.
import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import {
  addressOf,
  byAddress,
  type RateLimits,
  type RateWindow,
  tooManyTries,
} from "../../api/limits/rate-limit.ts";
import { accountByEmailSecret } from "../../commands/account/secrets.ts";

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
