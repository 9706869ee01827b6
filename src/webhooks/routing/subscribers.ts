// Who wants to hear of which clicks: webhooks and tiers, folded in memory from the account streams.
import type { LinkClicked, StoredEvent } from "../../events/catalogue.ts";
import { type ClickKind, TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";

export type Subscriber = {
  webhookId: string;
  accountId: string;
  url: string;
  kinds: readonly ClickKind[];
  status: "active" | "paused" | "removed";
  /** ISO 8601 UTC, when it last began to be sent anything: added or resumed. */
  activeSince: string;
};

/** Changed in place: a busy service has more accounts than one wants to copy for each event. */
export type Subscribers = {
  /** Removed ones too, as long as the process lives: what still waits for them is cancelled. */
  webhooks: Map<string, Subscriber>;
  byAccount: Map<string, Set<string>>;
  /** Open accounts whose tier has webhooks. */
  entitled: Set<string>;
};

export function noSubscribers(): Subscribers {
  return { webhooks: new Map(), byAccount: new Map(), entitled: new Set() };
}

/** Answers the webhooks that the event removed: what waits for them is to be cancelled. */
export function foldSubscribers(subscribers: Subscribers, event: StoredEvent): string[] {
  switch (event.type) {
    case "AccountOpened":
      entitle(subscribers, event.data.accountId, event.data.tier);
      return [];
    case "TierChanged":
      entitle(subscribers, event.data.accountId, event.data.to);
      return [];
    case "AccountClosed": {
      const { accountId } = event.data;
      subscribers.entitled.delete(accountId);
      return [...(subscribers.byAccount.get(accountId) ?? [])].flatMap((id) => remove(subscribers, id));
    }
    case "WebhookAdded": {
      const { webhookId, accountId, url, kinds, at } = event.data;
      const status = "active" as const;
      subscribers.webhooks.set(webhookId, { webhookId, accountId, url, kinds, status, activeSince: at });
      const own = subscribers.byAccount.get(accountId) ?? new Set();
      subscribers.byAccount.set(accountId, own.add(webhookId));
      return [];
    }
    case "WebhookChanged": {
      const { url, kinds } = event.data;
      change(subscribers, event.data.webhookId, { url, kinds });
      return [];
    }
    case "WebhookPaused":
      change(subscribers, event.data.webhookId, { status: "paused" });
      return [];
    case "WebhookResumed":
      change(subscribers, event.data.webhookId, { status: "active", activeSince: event.data.at });
      return [];
    case "WebhookRemoved":
      return remove(subscribers, event.data.webhookId);
    default:
      return [];
  }
}

/** The active webhooks that get this click: of its account, on a tier that has them, of their kinds (interface, part 6). */
export function subscribersOf(subscribers: Subscribers, click: LinkClicked["data"]): Subscriber[] {
  const { accountId, kind } = click;
  const own = subscribers.byAccount.get(accountId);
  if (!own || !isRouted(click) || !subscribers.entitled.has(accountId)) return [];
  const found: Subscriber[] = [];
  for (const id of own) {
    const webhook = subscribers.webhooks.get(id);
    if (webhook?.status === "active" && webhook.kinds.includes(kind)) found.push(webhook);
  }
  return found;
}

/** Only links created through the API trigger webhooks; links made in the web interface do not (interface, part 6). */
export function isRouted(click: LinkClicked["data"]): boolean {
  return click.via === "api";
}

function entitle({ entitled }: Subscribers, accountId: string, tier: Tier): void {
  if (TIER_LIMITS[tier].developerFeatures) entitled.add(accountId);
  else entitled.delete(accountId);
}

function change({ webhooks }: Subscribers, webhookId: string, to: Partial<Subscriber>): void {
  const webhook = webhooks.get(webhookId);
  if (webhook && webhook.status !== "removed") webhooks.set(webhookId, { ...webhook, ...to });
}

function remove({ webhooks, byAccount }: Subscribers, webhookId: string): string[] {
  const webhook = webhooks.get(webhookId);
  if (!webhook || webhook.status === "removed") return [];
  webhooks.set(webhookId, { ...webhook, status: "removed" });
  byAccount.get(webhook.accountId)?.delete(webhookId);
  return [webhookId];
}
