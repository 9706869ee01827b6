// Which receivers rest as they keep failing, for those who look why nothing is sent.
import { type WebhookDocument, webhooks } from "../../projections/definitions/webhooks.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { REST_SETTINGS, restMs } from "../delivery/failing-receivers.ts";
import type { DeliveryQueue, FailureStreak } from "../queue/queue.ts";

/** `since`: its first failure in a row. `until`: about when the next try is made. */
export type Resting = { since: string; until: string };
export type RestingWebhook = Resting & { webhook: WebhookDocument };

type Deps = { deliveryQueue: Pick<DeliveryQueue, "streak" | "streaks">; clock: () => Date };

/** Undefined where it is sent what is due; also after a change, which another try follows at once. */
export async function restingReceiver(
  { deliveryQueue, clock }: Deps,
  webhook: WebhookDocument,
): Promise<Resting | undefined> {
  if (webhook.status !== "active") return undefined;
  return restOf(webhook, await deliveryQueue.streak(webhook._id), clock());
}

/** Those of an account, or of all, the longest resting first. */
export async function restingReceivers(
  deps: Deps & { readStore: ReadStore },
  accountId?: string,
): Promise<RestingWebhook[]> {
  const resting = accountId === undefined ? await restingOfAll(deps) : await restingOf(deps, accountId);
  return resting.sort((a, b) => (a.since < b.since ? -1 : 1));
}

async function restingOf(
  deps: Deps & { readStore: ReadStore },
  accountId: string,
): Promise<RestingWebhook[]> {
  const found: RestingWebhook[] = [];
  for (const webhook of await listWebhooks(deps, accountId)) {
    const rest = await restingReceiver(deps, webhook);
    if (rest) found.push({ webhook, ...rest });
  }
  return found;
}

async function restingOfAll({
  deliveryQueue,
  readStore,
  clock,
}: Deps & { readStore: ReadStore }): Promise<RestingWebhook[]> {
  const streaks = await deliveryQueue.streaks(REST_SETTINGS.failures);
  const byId = new Map(streaks.map((streak) => [streak.webhookId, streak]));
  const failing = await readStore.getMany<WebhookDocument>(webhooks.collection.name, [...byId.keys()]);
  return failing.flatMap((webhook) => {
    const rest = restOf(webhook, byId.get(webhook._id), clock());
    return rest ? [{ webhook, ...rest }] : [];
  });
}

function restOf(
  { status, changedAt }: WebhookDocument,
  streak: FailureStreak | undefined,
  now: Date,
): Resting | undefined {
  if (status !== "active" || !streak || streak.lastAt < changedAt) return undefined;
  const ms = restMs(streak);
  const until = new Date(Date.parse(streak.lastAt) + ms).toISOString();
  return ms > 0 && until > now.toISOString() ? { since: streak.since, until } : undefined;
}
