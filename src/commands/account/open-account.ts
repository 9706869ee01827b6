// Opens an account for an e-mail address, which is stored in the secrets and never in an event.
import { hash } from "node:crypto";
import type { Position } from "../../event-store/port.ts";
import type { Tier } from "../../events/vocabulary.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { acceptEmail, normalEmail } from "../credentials/email-address.ts";
import { type LockDeps, withLock } from "../credentials/secrets-lock.ts";
import type { CommandDeps } from "../handle-command.ts";
import { open } from "./account.ts";
import { loadAccount, onAccount } from "./account-stream.ts";

export type OpenAccountDeps = CommandDeps & { secrets: Secrets };

export type OpenedAccount = { accountId: string; email: string; position: Position | undefined };

/** @throws invalid_email, email_taken (compared by `normalEmail`) */
export async function openAccount(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; tier: Tier },
): Promise<OpenedAccount> {
  const email = acceptEmail(request.email);
  const accountId = await withAddressLock(deps, email, async () => {
    const reserved = await reserve(deps, email);
    await deps.secrets.put(emailSecret(reserved), { value: email });
    return reserved;
  });
  const at = deps.clock().toISOString();
  try {
    const { position } = await onAccount(deps, context, accountId, (account) =>
      open(account, { accountId, tier: request.tier, at }),
    );
    return { accountId, email, position };
  } catch (error) {
    throw isRefused(error, "account_exists") ? new Refused("email_taken") : error;
  }
}

/** Secret that holds an account's e-mail address, a string. */
export function emailSecret(accountId: string): string {
  return `email/${accountId}`;
}

/** Secret that holds the account id of an e-mail address, named by the digest of the address. */
export function accountByEmailSecret(email: string): string {
  const digest = hash("sha256", normalEmail(email));
  return `account-by-email/${digest}`;
}

/** Serialises the use cases that bind the same address. @throws email_taken when another one runs */
export async function withAddressLock<T>(deps: LockDeps, email: string, work: () => Promise<T>): Promise<T> {
  return await withLock(deps, `${accountByEmailSecret(email)}/lock`, () => new Refused("email_taken"), work);
}

/**
 * Binds the address to an account id. A binding without an account is left over from an interrupted openAccount: its
 * id is used again. A binding that the account's own secret does not confirm is left over from an interrupted
 * closing or change of address: it is overwritten.
 * @throws email_taken
 */
async function reserve(deps: OpenAccountDeps, email: string): Promise<string> {
  const { secrets, clock, newId, eventStore } = deps;
  const wanted = newId();
  const binding = accountByEmailSecret(email);
  const bound = await secrets.putIfAbsent(binding, { value: wanted }, clock());
  if (bound === wanted) return wanted;
  const holder = String(bound);
  const { status } = await loadAccount(eventStore, holder);
  if (status === "absent") return holder;
  const current = await secrets.get(emailSecret(holder), clock());
  if (status === "open" && typeof current === "string" && normalEmail(current) === normalEmail(email))
    throw new Refused("email_taken");
  await secrets.put(binding, { value: wanted });
  return wanted;
}
