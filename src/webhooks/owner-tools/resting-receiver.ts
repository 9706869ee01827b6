// Whether a webhook's receiver rests as it keeps failing, for those who look why nothing is sent.
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { restMs } from "../delivery/failing-receivers.ts";
import type { DeliveryQueue } from "../queue/queue.ts";

/** `since`: its first failure in a row. `until`: about when the next try is made. */
export type Resting = { since: string; until: string };

/** Undefined where it is sent what is due; also after a change, which another try follows at once. */
export async function restingReceiver(
  { deliveryQueue, clock }: { deliveryQueue: Pick<DeliveryQueue, "streak">; clock: () => Date },
  { _id, status, changedAt }: WebhookDocument,
): Promise<Resting | undefined> {
  const streak = status === "active" ? await deliveryQueue.streak(_id) : undefined;
  if (!streak || streak.lastAt < changedAt) return undefined;
  const until = new Date(Date.parse(streak.lastAt) + restMs(streak)).toISOString();
  return until > clock().toISOString() && restMs(streak) > 0 ? { since: streak.since, until } : undefined;
}
