// Webhooks for the portal and the command line.
import { type WebhookDocument, webhooks } from "../projections/definitions/webhooks.ts";
import type { ReadStore } from "../read-store/port.ts";
import { Refused } from "../runtime/refused.ts";

type Deps = { readStore: ReadStore };

/** More than an account can have that are not removed (WEBHOOKS_PER_ACCOUNT). */
const PAGE = 500;

/** The webhooks of an account, oldest first. */
export async function listWebhooks({ readStore }: Deps, accountId: string): Promise<WebhookDocument[]> {
  const found: WebhookDocument[] = [];
  const sort = { field: "addedAt", direction: "asc" } as const;
  for (const status of ["active", "paused"] as const) {
    const query = { where: { accountId, status }, sort, limit: PAGE };
    found.push(...(await readStore.find<WebhookDocument>(webhooks.collection.name, query)));
  }
  return found.sort((a, b) => a.addedAt.localeCompare(b.addedAt) || a._id.localeCompare(b._id));
}

/** `accountId`: the required owner, if given. @throws not_found also for another account's webhook */
export async function showWebhook(
  { readStore }: Deps,
  webhookId: string,
  accountId?: string,
): Promise<WebhookDocument> {
  const found = await readStore.get<WebhookDocument>(webhooks.collection.name, webhookId);
  const isTheirs = accountId === undefined || found?.accountId === accountId;
  if (!found || found.status === "removed" || !isTheirs) throw new Refused("not_found", "Webhook not found");
  return found;
}

/** The one with this id, removed ones included, else those that send to this URL. */
export async function webhooksNamed({ readStore }: Deps, given: string): Promise<WebhookDocument[]> {
  const found = await readStore.get<WebhookDocument>(webhooks.collection.name, given);
  if (found) return [found];
  const sending = { where: { url: given }, limit: PAGE };
  const all = await readStore.find<WebhookDocument>(webhooks.collection.name, sending);
  return all.filter(({ status }) => status !== "removed");
}
