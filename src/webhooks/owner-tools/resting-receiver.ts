// Which receivers rest as they keep failing, for those who look why nothing is sent.
import { type WebhookDocument, webhooks } from "../../projections/definitions/webhooks.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { REST_SETTINGS, restMs } from "../delivery/failing-receivers.ts";
import type { DeliveryQueue, FailureStreak } from "../queue/queue.ts";

/** `since`: its first failure in a row. `until`: about when the next try is made. */
export type Resting = { since: string; until: string };
export type RestingWebhook = Resting & { webhook: WebhookDocument };

type Deps = { deliveryQueue: Pick<DeliveryQueue, "streaks">; clock: () => Date };

/** Undefined where it is sent what is due; also after a change, which another try follows at once. */
export async function restingReceiver(
  { deliveryQueue, clock }: Deps,
  webhook: WebhookDocument,
): Promise<Resting | undefined> {
  const [streak] = await deliveryQueue.streaks(REST_SETTINGS.failures, [webhook._id]);
  return restOf(webhook, streak, clock());
}

/** Those of an account, or of all, the longest resting first. */
export async function restingReceivers(
  { deliveryQueue, readStore, clock }: Deps & { readStore: ReadStore },
  accountId?: string,
): Promise<RestingWebhook[]> {
  const own = accountId === undefined ? undefined : await listWebhooks({ readStore }, accountId);
  const streaks = await deliveryQueue.streaks(
    REST_SETTINGS.failures,
    own?.map(({ _id }) => _id),
  );
  const byId = new Map(streaks.map((streak) => [streak.webhookId, streak]));
  const failing =
    own ?? (await readStore.getMany<WebhookDocument>(webhooks.collection.name, [...byId.keys()]));
  const resting = failing.flatMap((webhook) => {
    const rest = restOf(webhook, byId.get(webhook._id), clock());
    return rest ? [{ webhook, ...rest }] : [];
  });
  return resting.sort((a, b) => (a.since < b.since ? -1 : 1));
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
