// Loads a webhook for an owner's tool: it must exist, be the owner's, and belong to a tier with webhooks.
import { requireDeveloper } from "../../commands/errors.ts";
import { type AccountDocument, accounts } from "../../projections/definitions/accounts.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { NotFound } from "../../queries/errors.ts";
import { showWebhook } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../read-store/port.ts";

/** `accountId`: the required owner, if given. @throws NotFound, TierRequired */
export async function entitledWebhook(
  deps: { readStore: ReadStore },
  webhookId: string,
  accountId?: string,
): Promise<WebhookDocument> {
  const webhook = await showWebhook(deps, webhookId, accountId);
  const account = await deps.readStore.get<AccountDocument>(accounts.collection.name, webhook.accountId);
  if (account?.status === "closed") throw new NotFound("Webhook not found");
  requireDeveloper(account?.tier ?? "free", "Webhooks");
  return webhook;
}
