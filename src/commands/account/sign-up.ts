// Sign-up in the portal: opens an account and stores its password.
import type { Tier } from "../../events/vocabulary.ts";
import type { CommandContext } from "../caller.ts";
import { keepPassword } from "../credentials/password.ts";
import { type OpenAccountDeps, type OpenedAccount, openAccount } from "./open-account.ts";

/** `passwordHash`: of hashPassword. @throws invalid_email, email_taken */
export async function signUp(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; tier: Tier; passwordHash: string },
): Promise<OpenedAccount & { epoch: string }> {
  const { email, tier } = request;
  const opened = await openAccount(deps, context, { email, tier });
  return { ...opened, epoch: await keepPassword(deps, opened.accountId, request.passwordHash) };
}
