// Folds the webhooks of one account: a part of account.ts's state, as their stream is the account's.
import type { AccountEvent } from "../../events/catalogue.ts";
import type { ClickKind, WebhookPauseCause, WebhookPauser } from "../../events/vocabulary.ts";

/** `kinds`: which kinds of click it is sent. */
export type WebhookSettings = { url: string; kinds: readonly ClickKind[]; label: string };

export type LiveWebhook = WebhookSettings & { webhookId: string } & (
    | { status: "active" }
    | { status: "paused"; pausedBy: WebhookPauser; cause: WebhookPauseCause | undefined }
  );

/** Removed ones are remembered, so that a removal that a crash cut off can be repeated. */
export type OwnWebhook = LiveWebhook | { status: "removed"; webhookId: string };

/** By webhook id: all that were ever added. */
export type OwnWebhooks = Map<string, OwnWebhook>;

type WebhookEvent = Extract<AccountEvent, { type: `Webhook${string}` }>;

export function isOfWebhook(event: AccountEvent): event is WebhookEvent {
  return "webhookId" in event.data;
}

/** In place; answers by how many those that are not removed became more: 1, 0 or -1. */
export function evolveWebhooks(webhooks: OwnWebhooks, event: WebhookEvent): number {
  const { webhookId } = event.data;
  const known = webhooks.get(webhookId);
  const isLive = known !== undefined && known.status !== "removed";
  if (event.type === "WebhookAdded") {
    const { url, kinds, label } = event.data;
    webhooks.set(webhookId, { webhookId, url, kinds, label, status: "active" });
    return isLive ? 0 : 1;
  }
  if (!isLive) return 0;
  webhooks.set(webhookId, evolveWebhook(known, event));
  return event.type === "WebhookRemoved" ? -1 : 0;
}

function evolveWebhook(
  webhook: LiveWebhook,
  event: Exclude<WebhookEvent, { type: "WebhookAdded" }>,
): OwnWebhook {
  const { webhookId, url, kinds, label } = webhook;
  switch (event.type) {
    case "WebhookChanged":
      return { ...webhook, url: event.data.url, kinds: event.data.kinds, label: event.data.label };
    case "WebhookPaused":
      return {
        ...{ webhookId, url, kinds, label },
        ...{ status: "paused", pausedBy: event.data.by, cause: event.data.cause },
      };
    case "WebhookResumed":
      return { webhookId, url, kinds, label, status: "active" };
    case "WebhookKeyRotated":
      return webhook;
    case "WebhookRemoved":
      return { webhookId, status: "removed" };
  }
}
