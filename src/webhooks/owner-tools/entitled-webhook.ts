// Loads a webhook for an owner's tool: it must exist, be the owner's, and belong to a tier with webhooks.
import { requireDeveloper } from "../../commands/caller.ts";
import { type AccountDocument, accounts } from "../../projections/definitions/accounts.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { showWebhook } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { Refused } from "../../runtime/refused.ts";

/** `accountId`: the required owner, if given. @throws not_found, tier_required */
export async function entitledWebhook(
  deps: { readStore: ReadStore },
  webhookId: string,
  accountId?: string,
): Promise<WebhookDocument> {
  const webhook = await showWebhook(deps, webhookId, accountId);
  const account = await deps.readStore.get<AccountDocument>(accounts.collection.name, webhook.accountId);
  if (account?.status === "closed") throw new Refused("not_found", "Webhook not found");
  requireDeveloper(account?.tier ?? "free", "Webhooks");
  return webhook;
}
