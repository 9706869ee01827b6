// Folds the webhooks of one account: part of the state of account.ts, as they share the account's stream.
import type { AccountEvent } from "../../events/catalogue.ts";
import type { ClickKind, WebhookPauseCause, WebhookPauser } from "../../events/vocabulary.ts";

/** `kinds`: the kinds of click that are delivered. */
export type WebhookSettings = { url: string; kinds: readonly ClickKind[]; label: string };

export type LiveWebhook = WebhookSettings & { webhookId: string } & (
    | { status: "active" }
    | { status: "paused"; pausedBy: WebhookPauser; cause: WebhookPauseCause | undefined }
  );

/** Removed ones stay in the state, so that an interrupted removal can be repeated. */
export type WebhookState = LiveWebhook | { status: "removed"; webhookId: string };

/** By webhook id, removed ones included. */
export type WebhookStates = Map<string, WebhookState>;

type WebhookEvent = Extract<AccountEvent, { type: `Webhook${string}` }>;

export function isOfWebhook(event: AccountEvent): event is WebhookEvent {
  return "webhookId" in event.data;
}

/** Mutates `webhooks`; returns the change of the number that are not removed: 1, 0 or -1. */
export function evolveWebhooks(webhooks: WebhookStates, event: WebhookEvent): number {
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
): WebhookState {
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
