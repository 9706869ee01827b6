// Opens an account for an e-mail address, which is stored in the secrets and never in an event. Whose it is owns it: the person
// with its id.
import type { Tier } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { acceptEmail, personWithEmail, withAddressLock } from "../people/email.ts";
import { newPassword } from "../people/password.ts";
import { writeForPerson } from "../people/person-stream.ts";
import {
  emailSecret,
  normalEmail,
  passwordSecret,
  personByEmailSecret,
  provenEmailSecret,
} from "../people/secrets.ts";
import { Refused } from "../refusals.ts";
import { open } from "./account.ts";
import { changeAccount, loadAccount } from "./account-stream.ts";
import { type CloseDeps, closeAccount } from "./close-account.ts";

type OpenAccountDeps = CommandDeps & { secrets: Secrets };

type OpenedAccount = Appended & { accountId: string; email: string };

/**
 * With a password, as in the portal. It is stored before the account is opened: who was interrupted signs up again, and nobody
 * has an account that can't be signed in to. `passwordHash`: of hashPassword. `isProven`: a mail to the address has
 * reached them. `epoch`: of the password.
 * @throws invalid_email, email_taken
 */
export async function signUp(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; tier: Tier; passwordHash: string; isProven: boolean },
): Promise<OpenedAccount & { epoch: string }> {
  const { hash, epoch } = newPassword(deps, request.passwordHash);
  const opened = await openWith(deps, context, request, async (accountId) => {
    await deps.secrets.put(passwordSecret(accountId), { value: { hash, epoch } });
    if (request.isProven)
      await deps.secrets.put(provenEmailSecret(accountId), { value: normalEmail(request.email) });
  });
  return { ...opened, epoch };
}

/** Without a password, as by the operator. @throws invalid_email, email_taken (compared by `normalEmail`) */
export async function openAccount(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; tier: Tier },
): Promise<OpenedAccount> {
  return await openWith(deps, context, request);
}

/** For who signs in already, but is a member of no account. @throws already_member, person_not_found */
export async function openOwnAccount(
  deps: CloseDeps,
  context: CommandContext,
  { personId, tier }: { personId: string; tier: Tier },
): Promise<Appended & { accountId: string }> {
  if ((await deps.accountsOf(personId)).length > 0)
    throw new Refused("already_member", "You are a member of an account");
  const accountId = deps.newId();
  const opening = () =>
    changeAccount(deps, context, accountId, (account, at) =>
      open(account, { accountId, tier, ownerId: personId, at }),
    );
  const undo = async () => void (await closeAccount(deps, context, accountId));
  return { accountId, ...(await writeForPerson(deps, personId, opening, undo)) };
}

async function openWith(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; tier: Tier },
  keepSecrets?: (accountId: string) => Promise<void>,
): Promise<OpenedAccount> {
  const email = acceptEmail(request.email);
  return await withAddressLock(deps, email, async () => {
    const accountId = await reserve(deps, email);
    await deps.secrets.put(emailSecret(accountId), { value: email });
    await keepSecrets?.(accountId);
    const { position } = await changeAccount(deps, context, accountId, (account, at) =>
      open(account, { accountId, tier: request.tier, at }),
    );
    if ((await deps.secrets.get(personByEmailSecret(email), deps.clock())) === accountId)
      return { accountId, email, position };
    // The append took longer than the lock lasts, and somebody else has signed up with the address since.
    await closeAccount({ ...deps, accountsOf: async () => [] }, context, accountId);
    throw new Refused("email_taken");
  });
}

/**
 * Binds the address to a new account id. A binding that its account doesn't confirm is overwritten: it is left over from a
 * closing, a change, or a sign-up that was interrupted, or that is stalled and then finds the address gone, and whose
 * secrets are never those of a later one.
 * @throws email_taken
 */
async function reserve(deps: OpenAccountDeps, email: string): Promise<string> {
  const { secrets, clock, newId, eventStore } = deps;
  const wanted = newId();
  const binding = personByEmailSecret(email);
  const holder = String(await secrets.putIfAbsent(binding, { value: wanted }, clock()));
  if (holder === wanted) return wanted;
  const { status } = await loadAccount(eventStore, holder);
  if (status === "open" && (await personWithEmail(deps, email))) throw new Refused("email_taken");
  await secrets.put(binding, { value: wanted });
  if (status === "absent")
    for (const name of [emailSecret, provenEmailSecret, passwordSecret]) await secrets.delete(name(holder));
  return wanted;
}
