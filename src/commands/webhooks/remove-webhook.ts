// Removes a webhook and deletes its keys; can be repeated after a crash.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { remove } from "./webhook.ts";
import { forgetWebhookKeys, type WebhookKeyDeps } from "./webhook-key.ts";

/** The webhook router cancels its pending deliveries. @throws account_not_found, webhook_not_found */
export async function removeWebhook(
  deps: CommandDeps & Pick<WebhookKeyDeps, "secrets">,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    remove(account, { webhookId, at }),
  );
  await forgetWebhookKeys(deps.secrets, webhookId);
  return { position };
}
