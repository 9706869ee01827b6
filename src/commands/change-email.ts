// Another e-mail address for an account: bound to it first, then in use, then the old one is let go.
import type { Secrets } from "../secrets/port.ts";
import { EmailTaken } from "./account-errors.ts";
import { accountWithEmail } from "./check-credentials.ts";
import { acceptEmail, accountByEmailSecret, emailSecret } from "./open-account.ts";

type Deps = { secrets: Secrets; clock: () => Date };

/** Answers the address before. Cut off anywhere, both or one of them leads to the account. @throws InvalidEmail, EmailTaken */
export async function changeEmail(deps: Deps, accountId: string, given: string): Promise<{ before: string }> {
  const { secrets, clock } = deps;
  const email = acceptEmail(given);
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
  return { before };
}
