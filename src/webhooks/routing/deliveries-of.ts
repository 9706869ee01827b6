// The one place that turns an event into deliveries: which webhooks select it, and what each is sent.
import { LRUCache } from "lru-cache";
import { catalogue, EVENT_TYPES, type StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable } from "../../events/read-event.ts";
import { isImportedClick, PREFIX } from "../../events/streams.ts";
import type { WebhookSelection } from "../../events/webhook-selection.ts";
import { entriesBound } from "../../runtime/entries-bound.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { NewDelivery } from "../queue/queue.ts";
import { clickPayload } from "./click-payload.ts";
import { type LinkTransition, linkPayload, linkStepAt } from "./link-payload.ts";

type Selecting = WebhookSelection & { webhookId: string };

export type DeliveriesDeps = {
  eventStore: Pick<EventStore, "read">;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
};

export const DELIVERED_TYPES = EVENT_TYPES.filter((type) => catalogue[type].webhook !== undefined);

/** States of links whose tags are asked for with each of their clicks. */
const MOST_TAGGED = 10_000;

/** By what the event itself says; the link's tags, and where it was created, are looked up for those that select it. */
export function selects({ events, kinds, via, domains }: WebhookSelection, event: StoredEvent): boolean {
  const { webhook: name } = catalogue[event.type];
  if (name === undefined || !events.includes(name)) return false;
  if (domains.length > 0 && !domains.includes(hostOf(event))) return false;
  if (event.type !== "LinkClicked") return true;
  // Imported clicks happened elsewhere, some of them years ago: no receiver is told.
  return via.includes(event.data.via) && kinds.includes(event.data.kind) && !isImportedClick(event.stream);
}

/**
 * Of the webhooks that select the event. The function keeps tags of links between its calls.
 * @throws what the store throws; EventUnreadable, EventNewer for an event of the link
 */
export function deliveryMaker({ eventStore, baseUrl }: DeliveriesDeps) {
  const tagsAt = new LRUCache<string, readonly string[]>(entriesBound(MOST_TAGGED));

  async function tagsOfClicked(link: string, revision: number): Promise<readonly string[]> {
    const key = `${link}@${revision}`;
    const cached = tagsAt.get(key);
    if (cached) return cached;
    const tags = tagsOf(await linkStepAt(eventStore, `${PREFIX.link}${link}`, revision));
    tagsAt.set(key, tags);
    return tags;
  }

  return async (event: StoredEvent, webhooks: readonly Selecting[]): Promise<NewDelivery[]> => {
    const { webhook: name } = catalogue[event.type];
    if (name === undefined || webhooks.length === 0) return [];
    const to = (receivers: readonly Selecting[], body: string, tags: readonly string[] = []) =>
      receivers
        .filter((webhook) => webhook.tags.length === 0 || webhook.tags.some((tag) => tags.includes(tag)))
        .map(({ webhookId }) => ({ webhookId, eventId: event.id, event: name, body }));
    if (event.type === "LinkClicked") {
      const isByTag = webhooks.some(({ tags }) => tags.length > 0);
      const { link, linkRevision } = event.data;
      return to(
        webhooks,
        clickPayload(event.data, baseUrl),
        isByTag ? await tagsOfClicked(link, linkRevision) : [],
      );
    }
    const step = await linkStepAt(eventStore, event.stream, event.revision);
    const { after } = step;
    if (after.status === "free") return [];
    const receivers = webhooks.filter(({ via }) => via.includes(after.via));
    return to(receivers, linkPayload(name, event.data.at, step, baseUrl), tagsOf(step));
  };
}

/** Of a link whose own stream can't be read, nothing is known to send. */
export function noneOfUnreadable(error: unknown): NewDelivery[] {
  if (error instanceof EventUnreadable) return [];
  throw error;
}

function tagsOf({ after }: LinkTransition): readonly string[] {
  return after.status === "free" ? [] : (after.tags ?? []);
}

function hostOf({ data }: StoredEvent): string {
  if ("host" in data) return data.host;
  return "link" in data ? data.link.slice(0, data.link.indexOf("/")) : "";
}
