// Limits attempts at passwords by client address, account, and both together, and how many passwords are hashed at once.
import { hash } from "node:crypto";
import pLimit from "p-limit";
import { byAddress, type CountDeps, countTry } from "../../api/limits/rate-limit.ts";
import { accountByEmailSecret } from "../../commands/account/secrets.ts";
import { addressOf } from "../../runtime/client-address.ts";
import { Refused } from "../../runtime/refused.ts";

/**
 * Per hour. The limit per account is wider than per pair, so that knowing an address is not enough to lock its owner
 * out quickly.
 */
const TRIES = { pair: 15, account: 100, address: 100, device: 15, session: 15 } as const;

/**
 * Counts a sign-in attempt. A browser with a device cookie of the account (`deviceId`) has a limit of its own, which
 * attempts of others don't use up.
 * @throws rate_limit_exceeded
 */
export async function countSignIn(
  deps: CountDeps,
  { ip }: { ip: string },
  email: string,
  deviceId: string | undefined,
): Promise<void> {
  if (deviceId !== undefined) return await countTry(deps, `sign-in-device ${deviceId}`, TRIES.device);
  const account = accountByEmailSecret(email);
  await countTry(deps, byAddress("sign-in-address", ip), TRIES.address);
  await countTry(deps, `sign-in-pair ${hash("sha256", `${account} ${addressOf(ip)}`)}`, TRIES.pair);
  await countTry(deps, `sign-in-account ${account}`, TRIES.account);
}

/** Counts a re-authentication by password, per session. @throws rate_limit_exceeded */
export async function countReauthentication(deps: CountDeps, sessionId: string): Promise<void> {
  await countTry(deps, `proof-session ${sessionId}`, TRIES.session);
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
