// Checks e-mail address and password at sign-in; every refusal has one message and takes the same time (no
// enumeration).
import type { EventStore } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";
import { loadAccount } from "../account/account-stream.ts";
import { accountWithEmail } from "./account-with-email.ts";
import { verifyPassword } from "./password.ts";

type Deps = { eventStore: EventStore; secrets: Secrets; clock: () => Date };

/** `epoch`: the password's. @throws wrong_credentials also for a closed account and for one without a password */
export async function checkCredentials(
  deps: Deps,
  given: { email: string; password: string },
): Promise<{ accountId: string; epoch: string }> {
  const accountId = (await accountWithEmail(deps, given.email))?.accountId;
  const epoch = await verifyPassword(deps, accountId, given.password);
  if (!accountId || epoch === undefined) throw new Refused("wrong_credentials");
  if ((await loadAccount(deps.eventStore, accountId)).status !== "open")
    throw new Refused("wrong_credentials");
  return { accountId, epoch };
}
