// The test tool (interface, part 6): sends a signed sample of what the webhook is told of to an endpoint and returns the outcome.

import { Refused } from "../../commands/refusals.ts";
import { keysInUse } from "../../commands/webhooks/webhook-key.ts";
import { LINK_CLICKED } from "../../events/webhook-selection.ts";
import { entitledWebhook } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { AttemptResult, DeliverySender } from "../delivery/send-delivery.ts";
import { samplePayload } from "../routing/sample-payload.ts";

export type TestWebhookDeps = {
  readStore: ReadStore;
  secrets: Secrets;
  baseUrl: string;
  newId: () => string;
  clock: () => Date;
  sender: Pick<DeliverySender, "send">;
};

export type TestedWebhook = {
  /** As sent, with the key masked. */
  request: { method: "POST"; url: string; headers: Record<string, string>; body: string };
  answer: Pick<AttemptResult, "at" | "durationMs" | "status" | "error" | "answer">;
};

/**
 * Works for a paused webhook too, so that an endpoint can be tested before it is resumed. Not in the delivery log.
 * `accountId`: the required owner, if given.
 * @throws not_found, tier_required, webhook_key_missing
 */
export async function testWebhook(
  deps: TestWebhookDeps,
  webhookId: string,
  accountId?: string,
): Promise<TestedWebhook> {
  const webhook = await entitledWebhook(deps, webhookId, accountId);
  const now = deps.clock();
  const secrets = await keysInUse(deps.secrets, webhookId, now);
  if (!secrets) throw new Refused("webhook_key_missing");
  const event = webhook.events[0] ?? LINK_CLICKED;
  const body = samplePayload(event, deps.baseUrl, now.getTime());
  const id = `test_${deps.newId()}`;
  const sample = { url: webhook.url, secrets, id, body, event };
  const { requestHeaders: headers, retryAfterMs, ...answer } = await deps.sender.send(sample);
  return {
    request: { method: "POST", url: webhook.url, headers, body },
    answer,
  };
}
