// Which webhooks subscribe to which events: an in-memory fold of webhooks and tiers from the account streams.

import { type EventType, isEventType, type StoredEvent } from "../../events/catalogue.ts";
import { EventNewer, readFollowed } from "../../events/read-event.ts";
import { hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { selectionOf, type WebhookSelection } from "../../events/webhook-selection.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";
import { DELIVERED_TYPES, selects } from "./deliveries-of.ts";

/** Where deliveries of a webhook go. */
export type Receiver = {
  webhookId: string;
  accountId: string;
  url: string;
  status: "active" | "paused" | "removed";
  /** When it was added, last resumed or given another URL, ISO 8601 UTC. */
  activeSince: string;
};

export type Subscriber = Receiver & WebhookSelection;

/** Mutated in place, because copying it for each event would cost too much with many accounts. */
export type Subscribers = {
  /** Includes webhooks that were removed, so that their queued deliveries can be recognised and cancelled. */
  webhooks: Map<string, Subscriber>;
  byAccount: Map<string, Set<string>>;
  /** Open accounts whose tier has webhooks. */
  entitled: Set<string>;
};

export function noSubscribers(): Subscribers {
  return { webhooks: new Map(), byAccount: new Map(), entitled: new Set() };
}

/** Whether any event may have a subscriber, now or when a webhook is resumed. */
export function hasWebhooks({ webhooks }: Subscribers): boolean {
  return webhooks.values().some(({ status }) => status !== "removed");
}

/** The types that routing depends on: others may be unreadable, or of a newer program. */
const ROUTED_TYPES: ReadonlySet<string> = new Set<EventType>([
  "AccountOpened",
  "TierChanged",
  "AccountClosed",
  "WebhookAdded",
  "WebhookChanged",
  "WebhookPaused",
  "WebhookResumed",
  "WebhookRemoved",
  ...DELIVERED_TYPES,
]);

/** Told of each event that can't be routed, and is passed. */
export type OnRefused = (recorded: RecordedEvent, error: unknown) => void;

/** Gives the event to `take`, if routing depends on it. @throws EventNewer: it is waited for */
export function takeEvent(
  recorded: RecordedEvent,
  take: (event: StoredEvent) => void,
  onRefused: OnRefused = () => undefined,
): void {
  if (isEventType(recorded.type) && !ROUTED_TYPES.has(recorded.type)) return;
  try {
    take(readFollowed(recorded));
  } catch (error) {
    if (error instanceof EventNewer) throw error;
    onRefused(recorded, error);
  }
}

/** Returns the webhooks that the event removed; their queued deliveries are to be cancelled. */
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
      const { webhookId, accountId, url, at } = event.data;
      const receiver = { webhookId, accountId, url, status: "active", activeSince: at } as const;
      subscribers.webhooks.set(webhookId, { ...receiver, ...selectionOf(event.data) });
      const own = subscribers.byAccount.get(accountId) ?? new Set();
      subscribers.byAccount.set(accountId, own.add(webhookId));
      return [];
    }
    case "WebhookChanged": {
      const { webhookId, url, at } = event.data;
      const isMoved = subscribers.webhooks.get(webhookId)?.url !== url;
      const moved = { url, ...(isMoved && { activeSince: at }) };
      change(subscribers, webhookId, { ...moved, ...selectionOf(event.data) });
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

/** Active webhooks of the event's account that select it, if the tier has webhooks (interface, part 6). */
export function subscribersOf(subscribers: Subscribers, event: StoredEvent): Subscriber[] {
  const accountId = "accountId" in event.data ? event.data.accountId : "";
  const own = subscribers.byAccount.get(accountId);
  if (!own || !subscribers.entitled.has(accountId)) return [];
  const selecting: Subscriber[] = [];
  for (const id of own) {
    const webhook = subscribers.webhooks.get(id);
    if (webhook?.status === "active" && selects(webhook, event)) selecting.push(webhook);
  }
  return selecting;
}

function entitle({ entitled }: Subscribers, accountId: string, tier: Tier): void {
  if (hasDeveloperFeatures(tier)) entitled.add(accountId);
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
