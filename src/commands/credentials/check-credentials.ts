// Checks e-mail address and password at sign-in; every refusal has one message and takes the same time (no
// enumeration).
import type { EventStore } from "../../event-store/port.ts";
import type { Secrets } from "../../secrets/port.ts";
import { WrongCredentials } from "../account/account-errors.ts";
import { loadAccount } from "../account/account-stream.ts";
import { accountByEmailSecret, emailSecret } from "../account/open-account.ts";
import { normalEmail } from "./email-address.ts";
import { verifyPassword } from "./password.ts";

type Deps = { eventStore: EventStore; secrets: Secrets; clock: () => Date };

/** `epoch`: the password's. @throws WrongCredentials also for a closed account and for one without a password */
export async function checkCredentials(
  deps: Deps,
  given: { email: string; password: string },
): Promise<{ accountId: string; epoch: string }> {
  const accountId = (await accountWithEmail(deps, given.email))?.accountId;
  const epoch = await verifyPassword(deps, accountId, given.password);
  if (!accountId || epoch === undefined) throw new WrongCredentials();
  if ((await loadAccount(deps.eventStore, accountId)).status !== "open") throw new WrongCredentials();
  return { accountId, epoch };
}

/**
 * The account with this address, and the address as it is stored. A binding that the account's own secret does not
 * confirm, left over from an interrupted change of address, is ignored.
 */
export async function accountWithEmail(
  deps: Pick<Deps, "secrets" | "clock">,
  email: string,
): Promise<{ accountId: string; email: string } | undefined> {
  const bound = await deps.secrets.get(accountByEmailSecret(email), deps.clock());
  if (typeof bound !== "string") return undefined;
  const current = await deps.secrets.get(emailSecret(bound), deps.clock());
  if (typeof current !== "string" || normalEmail(current) !== normalEmail(email)) return undefined;
  return { accountId: bound, email: current };
}
