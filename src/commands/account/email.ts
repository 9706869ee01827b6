// E-mail addresses: which are accepted, whose one is, and how an account gets another one.

import { Refused } from "../../runtime/refused.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { writeForOpenAccount } from "./accounts.ts";
import { accountByEmailSecret, emailSecret, type LockDeps, normalEmail, withLock } from "./secrets.ts";

/** RFC 5321 length limits and one `@`; whether the mailbox exists is not checked. @throws invalid_email */
export function acceptEmail(text: string): string {
  const email = text.trim();
  if (email.length > 254 || !/^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u.test(email))
    throw new Refused("invalid_email");
  return email;
}

/**
 * The account with this address, and the address as it is stored. A binding that the account's own secret does not
 * confirm, left over from an interrupted change of address, is ignored.
 */
export async function accountWithEmail(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  email: string,
): Promise<{ accountId: string; email: string } | undefined> {
  const bound = await secrets.get(accountByEmailSecret(email), clock());
  if (typeof bound !== "string") return undefined;
  const current = await secrets.get(emailSecret(bound), clock());
  if (typeof current !== "string" || normalEmail(current) !== normalEmail(email)) return undefined;
  return { accountId: bound, email: current };
}

/** Serialises the use cases that bind the same address. @throws email_taken when another one runs */
export async function withAddressLock<T>(deps: LockDeps, email: string, work: () => Promise<T>): Promise<T> {
  return await withLock(deps, `${accountByEmailSecret(email)}/lock`, "email_taken", work);
}

export type ChangedEmail = { previous: string; email: string };

/**
 * Binds the new address, stores it, then releases the old one: interrupted at any step, the account can still be found by
 * the old address, the new one, or both.
 * @throws invalid_email, email_taken, account_not_found
 */
export async function changeEmail(
  deps: LockDeps & { eventStore: EventStore },
  accountId: string,
  text: string,
): Promise<ChangedEmail> {
  const email = acceptEmail(text);
  const change = () => withAddressLock(deps, email, () => bindEmail(deps, accountId, email));
  const undo = async () => {
    await deps.secrets.delete(emailSecret(accountId));
    await releaseEmail(deps, accountId, email);
  };
  return await writeForOpenAccount(deps, accountId, change, undo);
}

/** Deletes the binding of the address, unless it is another account's by now. */
export async function releaseEmail(
  { secrets, clock }: Pick<LockDeps, "secrets" | "clock">,
  accountId: string,
  email: string,
): Promise<void> {
  const binding = accountByEmailSecret(email);
  if ((await secrets.get(binding, clock())) === accountId) await secrets.delete(binding);
}

/** @throws email_taken */
async function bindEmail(deps: LockDeps, accountId: string, email: string): Promise<ChangedEmail> {
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
