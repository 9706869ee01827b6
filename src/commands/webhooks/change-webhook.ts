// Changes a webhook's URL, kinds of click or label; its key stays.
import type { Position } from "../../event-store/port.ts";
import { acceptLabel } from "../accept-label.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { type AcceptWebhookDeps, acceptKinds, acceptReceiver } from "./accept-webhook.ts";
import { change, liveWebhook } from "./webhook.ts";
import type { WebhookSettings } from "./webhook-state.ts";

export type ChangedWebhook = WebhookSettings & { webhookId: string; position: Position | undefined };

export type ChangeWebhookRequest = {
  url?: string | undefined;
  kinds?: readonly string[] | undefined;
  label?: string | undefined;
};

/**
 * Omitted settings stay. Pending deliveries go to the new URL.
 * @throws invalid_webhook, account_not_found, tier_required, webhook_not_found, history_full
 */
export async function changeWebhook(
  deps: CommandDeps & AcceptWebhookDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
  request: ChangeWebhookRequest,
): Promise<ChangedWebhook> {
  const changed = {
    ...(request.url === undefined ? {} : { url: acceptReceiver(deps, request.url) }),
    ...(request.kinds === undefined ? {} : { kinds: acceptKinds(request.kinds) }),
    ...(request.label === undefined ? {} : { label: acceptLabel(request.label) }),
  };
  const at = deps.clock().toISOString();
  const { state, position } = await onAccount(deps, context, accountId, (account) =>
    change(account, { webhookId, ...changed, at }),
  );
  const { url, kinds, label } = liveWebhook(state, webhookId);
  return { webhookId, url, kinds, label, position };
}
