// Whose an e-mail address is; apart from passwords, whose hashing most commands need not load.
import type { Secrets } from "../../secrets/port.ts";
import { accountByEmailSecret, emailSecret } from "../account/open-account.ts";
import { normalEmail } from "./email-address.ts";

/**
 * The account with this address, and the address as it is stored. A binding that the account's own secret does not
 * confirm, left over from an interrupted change of address, is ignored.
 */
export async function accountWithEmail(
  deps: { secrets: Secrets; clock: () => Date },
  email: string,
): Promise<{ accountId: string; email: string } | undefined> {
  const bound = await deps.secrets.get(accountByEmailSecret(email), deps.clock());
  if (typeof bound !== "string") return undefined;
  const current = await deps.secrets.get(emailSecret(bound), deps.clock());
  if (typeof current !== "string" || normalEmail(current) !== normalEmail(email)) return undefined;
  return { accountId: bound, email: current };
}
