// Opens an account for an e-mail address, which is stored in the secrets and never in an event.
import type { Tier } from "../../events/vocabulary.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { open } from "./account.ts";
import { changeAccount, loadAccount } from "./accounts.ts";
import { acceptEmail, accountWithEmail, withAddressLock } from "./email.ts";
import { keepPassword } from "./password.ts";
import { accountByEmailSecret, emailSecret } from "./secrets.ts";

type OpenAccountDeps = CommandDeps & { secrets: Secrets };

type OpenedAccount = Appended & { accountId: string; email: string };

/** In the portal: with a password. `passwordHash`: of hashPassword. @throws invalid_email, email_taken */
export async function signUp(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; tier: Tier; passwordHash: string },
): Promise<OpenedAccount & { epoch: string }> {
  const opened = await openAccount(deps, context, request);
  return { ...opened, epoch: await keepPassword(deps, opened.accountId, request.passwordHash) };
}

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
  try {
    const { position } = await changeAccount(deps, context, accountId, (account, at) =>
      open(account, { accountId, tier: request.tier, at }),
    );
    return { accountId, email, position };
  } catch (error) {
    throw isRefused(error, "account_exists") ? new Refused("email_taken") : error;
  }
}

/**
 * Binds the address to an account id. The id of a binding without an account, left over from an interrupted openAccount,
 * is used again; one that its account doesn't confirm, left over from a closing or change, is overwritten.
 * @throws email_taken
 */
async function reserve(deps: OpenAccountDeps, email: string): Promise<string> {
  const { secrets, clock, newId, eventStore } = deps;
  const wanted = newId();
  const binding = accountByEmailSecret(email);
  const holder = String(await secrets.putIfAbsent(binding, { value: wanted }, clock()));
  if (holder === wanted) return wanted;
  const { status } = await loadAccount(eventStore, holder);
  if (status === "absent") return holder;
  if (status === "open" && (await accountWithEmail(deps, email))) throw new Refused("email_taken");
  await secrets.put(binding, { value: wanted });
  return wanted;
}
