// Removes a domain from an account, then releases its hostname claim; can be repeated after a crash.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { releaseHostname } from "./claim-hostname.ts";
import { remove } from "./domain.ts";

/**
 * Removal comes before the release: otherwise another account could claim a hostname that this one still serves.
 * @throws account_not_found
 */
export async function removeDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  hostname: string,
  reason?: "taken_over",
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    remove(account, { hostname, at, reason }),
  );
  await releaseHostname(deps, context, { hostname, accountId, at });
  return { position };
}
