// Moves an account to another tier (interface, part 1); its keys, domains and webhooks stay as they are.
import type { Position } from "../../event-store/port.ts";
import type { Tier } from "../../events/vocabulary.ts";
import type { Secrets } from "../../secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { upgradeRequestSecret } from "../credentials/account-secrets.ts";
import type { CommandDeps } from "../handle-command.ts";
import { changeTierTo } from "./account.ts";
import { onAccount } from "./account-stream.ts";

/** Settles a request for the Developer plan, too. @throws account_not_found */
export async function changeTier(
  deps: CommandDeps & { secrets: Pick<Secrets, "delete"> },
  context: CommandContext,
  accountId: string,
  tier: Tier,
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    changeTierTo(account, { tier, at }),
  );
  await deps.secrets.delete(upgradeRequestSecret(accountId));
  return { position };
}
