// Limits attempts at passwords by client address, account, and both together.
import { hash } from "node:crypto";
import { personByEmailSecret } from "../../commands/people/secrets.ts";
import { byAddress, type CountDeps, countTry } from "../../limits/rate-limit.ts";
import { addressOf } from "../../runtime/addresses/networks.ts";

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
  const account = personByEmailSecret(email);
  await countTry(deps, byAddress("sign-in-address", ip), TRIES.address);
  await countTry(deps, `sign-in-pair ${hash("sha256", `${account} ${addressOf(ip)}`)}`, TRIES.pair);
  await countTry(deps, `sign-in-account ${account}`, TRIES.account);
}

/** Counts a re-authentication by password, per session. @throws rate_limit_exceeded */
export async function countReauthentication(deps: CountDeps, sessionId: string): Promise<void> {
  await countTry(deps, `proof-session ${sessionId}`, TRIES.session);
}
