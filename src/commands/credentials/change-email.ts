// Changes an account's e-mail address: binds the new one, stores it, then releases the old one.
import type { EventStore } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";
import { writeForOpenAccount } from "../account/account-stream.ts";
import { accountByEmailSecret, emailSecret, withAddressLock } from "../account/open-account.ts";
import {
  type AccountTokenDeps,
  issueAccountToken,
  lookAtAccountToken,
  useAccountToken,
} from "./account-token.ts";
import { accountWithEmail } from "./account-with-email.ts";
import { acceptEmail } from "./email-address.ts";

type Deps = { eventStore: EventStore; secrets: Secrets; clock: () => Date; newId: () => string };

export type ChangedEmail = { previous: string; email: string };

/**
 * Interrupted at any step, the account can still be found by the old address, the new one, or both.
 * @throws invalid_email, email_taken, account_not_found
 */
export async function changeEmail(deps: Deps, accountId: string, given: string): Promise<ChangedEmail> {
  const email = acceptEmail(given);
  const change = () => withAddressLock(deps, email, () => bindEmail(deps, accountId, email));
  const undo = async () => {
    await deps.secrets.delete(emailSecret(accountId));
    await release(deps, accountId, email);
  };
  return await writeForOpenAccount(deps, accountId, change, undo);
}

/**
 * Path and query of the page that confirms the new address, to be mailed to that address. Undefined when the address
 * belongs to another account: then no mail is sent, and the caller's answer is the same, so that addresses can't be
 * enumerated.
 * @throws invalid_email, account_not_found
 */
export async function issueEmailChange(
  deps: AccountTokenDeps,
  accountId: string,
  given: string,
  lifetimeMs: number,
): Promise<{ path: string } | undefined> {
  const email = acceptEmail(given);
  const holder = await accountWithEmail(deps, email);
  if (holder && holder.accountId !== accountId) return undefined;
  const token = await issueAccountToken(deps, "email", { accountId, value: { email }, lifetimeMs });
  return { path: `/portal/account/email/confirm?token=${token}` };
}

/** Reads the new address without consuming the token. @throws link_expired */
export async function lookAtEmailChange(deps: AccountTokenDeps, token: string): Promise<{ email: string }> {
  return (await lookAtAccountToken<{ email: string }>(deps, "email", token)).value;
}

/** @throws link_expired, email_taken, account_not_found */
export async function confirmEmailChange(deps: Deps, token: string): Promise<ChangedEmail> {
  const { accountId, value } = await useAccountToken<{ email: string }>(deps, "email", token);
  return await changeEmail(deps, accountId, value.email);
}

/** @throws email_taken */
async function bindEmail(deps: Deps, accountId: string, email: string): Promise<ChangedEmail> {
  const { secrets, clock } = deps;
  const previous = String((await secrets.get(emailSecret(accountId), clock())) ?? "");
  const bound = await secrets.putIfAbsent(accountByEmailSecret(email), { value: accountId }, clock());
  if (bound !== accountId) {
    if (await accountWithEmail(deps, email)) throw new Refused("email_taken");
    // The binding is left over from an interrupted change of address or sign-up.
    await secrets.put(accountByEmailSecret(email), { value: accountId });
  }
  await secrets.put(emailSecret(accountId), { value: email });
  if (previous && accountByEmailSecret(previous) !== accountByEmailSecret(email))
    await secrets.delete(accountByEmailSecret(previous));
  return { previous, email };
}

async function release({ secrets, clock }: Deps, accountId: string, email: string): Promise<void> {
  const key = accountByEmailSecret(email);
  if ((await secrets.get(key, clock())) === accountId) await secrets.delete(key);
}
