// Webhooks for the portal and the command line.
import { requireDeveloper } from "../commands/caller.ts";
import { Refused } from "../commands/refusals.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type WebhookDocument, webhooks } from "../projections/definitions/webhooks.ts";
import { allDocuments } from "../stores/read-store/document-pages.ts";
import type { ReadStore } from "../stores/read-store/port.ts";

type Deps = { readStore: ReadStore };

const PAGE = 500;

/** The webhooks of an account, oldest first, without those that were removed. */
export async function listWebhooks({ readStore }: Deps, accountId: string): Promise<WebhookDocument[]> {
  const sort = { field: "addedAt", direction: "asc" } as const;
  const query = { where: { accountId }, sort, limit: PAGE };
  return (await allDocuments<WebhookDocument>(readStore, webhooks.collection.name, query)).filter(isPresent);
}

/** `accountId`: the required owner, if given. @throws not_found also for another account's webhook */
export async function showWebhook(
  { readStore }: Deps,
  webhookId: string,
  accountId?: string,
): Promise<WebhookDocument> {
  const webhook = await readStore.get<WebhookDocument>(webhooks.collection.name, webhookId);
  const isTheirs = accountId === undefined || webhook?.accountId === accountId;
  if (!webhook || !isPresent(webhook) || !isTheirs) throw new Refused("not_found", "Webhook not found");
  return webhook;
}

/** For an owner's tool: also refuses an account whose tier has no webhooks. @throws not_found, tier_required */
export async function entitledWebhook(
  deps: Deps,
  webhookId: string,
  accountId?: string,
): Promise<WebhookDocument> {
  const webhook = await showWebhook(deps, webhookId, accountId);
  const account = await deps.readStore.get<AccountDocument>(accounts.collection.name, webhook.accountId);
  if (account?.status === "closed") throw new Refused("not_found", "Webhook not found");
  requireDeveloper(account?.tier ?? "free", "Webhooks");
  return webhook;
}

/** The one with this id, removed ones included, else those that send to this URL. */
export async function webhooksNamed({ readStore }: Deps, named: string): Promise<WebhookDocument[]> {
  const webhook = await readStore.get<WebhookDocument>(webhooks.collection.name, named);
  if (webhook) return [webhook];
  const sending = { where: { url: URL.parse(named)?.href ?? named }, limit: PAGE };
  const all = await readStore.find<WebhookDocument>(webhooks.collection.name, sending);
  return all.filter(isPresent);
}

function isPresent({ status }: WebhookDocument): boolean {
  return status !== "removed";
}

/** As the command line and the console's JSON answer it. */
export function webhookRow(webhook: WebhookDocument) {
  return {
    webhook_id: webhook._id,
    account_id: webhook.accountId,
    url: webhook.url,
    label: webhook.label,
    events: webhook.events,
    kinds: webhook.kinds,
    via: webhook.via,
    domains: webhook.domains,
    tags: webhook.tags,
    status: webhook.status,
    paused_by: webhook.pausedBy,
    reason: webhook.reason,
    cause: webhook.cause ?? null,
    paused_at: webhook.pausedAt,
    key_hint: webhook.keyHint,
    public_key: webhook.publicKey,
    previous_key_until: webhook.previousKeyUntil,
    added_at: webhook.addedAt,
    changed_at: webhook.changedAt,
  };
}
