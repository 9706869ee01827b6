// Changes a password, given the current one; sessions of the old password's epoch are void from then on.
import type { EventStore } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";
import { loadOpenAccount } from "../account/account-stream.ts";
import { emailSecret } from "../account/open-account.ts";
import { acceptPassword, hashPassword, keepPassword, verifyPassword } from "./password.ts";

type Deps = { eventStore: EventStore; secrets: Secrets; clock: () => Date; newId: () => string };

/** Returns the new password's epoch. @throws wrong_password, password_refused, account_not_found */
export async function changePassword(
  deps: Deps,
  accountId: string,
  given: { current: string; wanted: string },
): Promise<{ epoch: string }> {
  await provePassword(deps, accountId, given.current);
  const email = String((await deps.secrets.get(emailSecret(accountId), deps.clock())) ?? "");
  const passwordHash = await hashPassword(acceptPassword(given.wanted, { email }));
  return { epoch: await keepPassword(deps, accountId, passwordHash) };
}

/** Re-authentication before irreversible changes and changes of credentials. @throws wrong_password, account_not_found */
export async function provePassword(
  deps: Pick<Deps, "eventStore" | "secrets" | "clock">,
  accountId: string,
  given: string,
): Promise<void> {
  await loadOpenAccount(deps.eventStore, accountId);
  if ((await verifyPassword(deps, accountId, given)) === undefined) throw new Refused("wrong_password");
}
