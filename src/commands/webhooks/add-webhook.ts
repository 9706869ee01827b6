// Adds a webhook (interface, part 6) with a new key, which is stored in the secrets and shown only in this answer.
import type { Position } from "../../event-store/port.ts";
import { type ClickKind, WEBHOOK_DEFAULT_KINDS } from "../../events/vocabulary.ts";
import { isClientError } from "../../runtime/refused.ts";
import { acceptLabel } from "../accept-label.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { type AcceptWebhookDeps, acceptKinds, acceptReceiver } from "./accept-webhook.ts";
import { add } from "./webhook.ts";
import {
  forgetWebhookKeys,
  keepWebhookKeys,
  keyHintOf,
  newWebhookKey,
  type WebhookKeyDeps,
} from "./webhook-key.ts";

export type AddWebhookDeps = CommandDeps & AcceptWebhookDeps & WebhookKeyDeps;

export type AddWebhookRequest = {
  url: string;
  /** Default: clicks and QR scans, no previews. */
  kinds?: readonly string[] | undefined;
  label?: string | undefined;
};

export type AddedWebhook = {
  webhookId: string;
  key: string;
  url: string;
  kinds: ClickKind[];
  label: string;
  position: Position | undefined;
};

/**
 * The key is stored before the event: a webhook without a key can't be delivered to, a key without a webhook is harmless.
 * @throws invalid_webhook, account_not_found, tier_required, webhook_limit_reached, history_full
 */
export async function addWebhook(
  deps: AddWebhookDeps,
  context: CommandContext,
  accountId: string,
  request: AddWebhookRequest,
): Promise<AddedWebhook> {
  const url = acceptReceiver(deps, request.url);
  const kinds = acceptKinds(request.kinds ?? WEBHOOK_DEFAULT_KINDS);
  const label = acceptLabel(request.label ?? "");
  const key = newWebhookKey(deps);
  const webhookId = deps.newId();
  const at = deps.clock().toISOString();
  await keepWebhookKeys(deps.secrets, webhookId, { key });
  try {
    const { position } = await onAccount(deps, context, accountId, (account) =>
      add(account, { webhookId, url, kinds, label, keyHint: keyHintOf(key), at }),
    );
    return { webhookId, key, url, kinds, label, position };
  } catch (error) {
    // After any other error the append's outcome is unknown: the event may be in the log.
    if (isClientError(error)) await forgetWebhookKeys(deps.secrets, webhookId);
    throw error;
  }
}
