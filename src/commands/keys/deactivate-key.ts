// Deactivates an API key permanently (interface, part 3).
import type { Position } from "../../event-store/port.ts";
import { deactivate } from "../account/account.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";

/** @throws account_not_found, key_not_found */
export async function deactivateKey(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  keyId: string,
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    deactivate(account, { keyId, at }),
  );
  return { position };
}
