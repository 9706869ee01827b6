// Another e-mail address for an account: bound to it first, then in use, then the old one is let go.
import type { EventStore } from "../../event-store/port.ts";
import type { Secrets } from "../../secrets/port.ts";
import { EmailTaken } from "../account/account-errors.ts";
import { keepOfOpenAccount } from "../account/account-stream.ts";
import { accountByEmailSecret, emailSecret, onAddress } from "../account/open-account.ts";
import {
  type AccountTokenDeps,
  issueAccountToken,
  lookAtAccountToken,
  useAccountToken,
} from "./account-token.ts";
import { accountWithEmail } from "./check-credentials.ts";
import { acceptEmail } from "./email-address.ts";

type Deps = { eventStore: EventStore; secrets: Secrets; clock: () => Date; newId: () => string };

export type ChangedEmail = { before: string; email: string };

/**
 * Answers the address before too. Cut off anywhere, both or one of them leads to the account.
 * @throws InvalidEmail, EmailTaken, AccountNotFound
 */
export async function changeEmail(deps: Deps, accountId: string, given: string): Promise<ChangedEmail> {
  const email = acceptEmail(given);
  const change = () => onAddress(deps, email, () => bindEmail(deps, accountId, email));
  const undo = async () => {
    await deps.secrets.delete(emailSecret(accountId));
    await release(deps, accountId, email);
  };
  return await keepOfOpenAccount(deps, accountId, change, undo);
}

/**
 * Path and query of the page where whoever reads the mail of the new address confirms it. Undefined when it is
 * someone else's: there is nothing to say to them, and nothing to tell the one who asks.
 * @throws InvalidEmail, AccountNotFound
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

/** The new address. @throws LinkExpired */
export async function lookAtEmailChange(deps: AccountTokenDeps, token: string): Promise<{ email: string }> {
  return (await lookAtAccountToken<{ email: string }>(deps, "email", token)).value;
}

/** @throws LinkExpired, EmailTaken, AccountNotFound */
export async function confirmEmailChange(deps: Deps, token: string): Promise<ChangedEmail> {
  const { accountId, value } = await useAccountToken<{ email: string }>(deps, "email", token);
  return await changeEmail(deps, accountId, value.email);
}

/** @throws EmailTaken */
async function bindEmail(deps: Deps, accountId: string, email: string): Promise<ChangedEmail> {
  const { secrets, clock } = deps;
  const before = String((await secrets.get(emailSecret(accountId), clock())) ?? "");
  const bound = await secrets.putIfAbsent(accountByEmailSecret(email), { value: accountId }, clock());
  if (bound !== accountId) {
    if (await accountWithEmail(deps, email)) throw new EmailTaken();
    // Left behind by a change that was cut off, or by an opening that never happened.
    await secrets.put(accountByEmailSecret(email), { value: accountId });
  }
  await secrets.put(emailSecret(accountId), { value: email });
  if (before && accountByEmailSecret(before) !== accountByEmailSecret(email))
    await secrets.delete(accountByEmailSecret(before));
  return { before, email };
}

async function release({ secrets, clock }: Deps, accountId: string, email: string): Promise<void> {
  const key = accountByEmailSecret(email);
  if ((await secrets.get(key, clock())) === accountId) await secrets.delete(key);
}
