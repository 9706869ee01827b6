// Sign-up in the portal: opens a Free account and stores its password.
import type { CommandContext } from "../caller.ts";
import { keepPassword } from "../credentials/password.ts";
import { type OpenAccountDeps, type OpenedAccount, openAccount } from "./open-account.ts";

/** `passwordHash`: of hashPassword. @throws InvalidEmail, EmailTaken */
export async function signUp(
  deps: OpenAccountDeps,
  context: CommandContext,
  request: { email: string; passwordHash: string },
): Promise<OpenedAccount & { epoch: string }> {
  const opened = await openAccount(deps, context, { email: request.email, tier: "free" });
  return { ...opened, epoch: await keepPassword(deps, opened.accountId, request.passwordHash) };
}
