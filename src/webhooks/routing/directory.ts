// The worker's view of webhooks, with URL and status, kept current by a subscription to the account streams.

import { CATEGORY } from "../../events/streams.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import {
  foldSubscribers,
  noSubscribers,
  type OnRefused,
  type Subscriber,
  type Subscribers,
  takeEvent,
} from "./subscribers.ts";

const BATCH = 2_000;

export class WebhookDirectory {
  readonly #eventStore: EventStore;
  readonly #onChange: () => void;
  #subscribers = noSubscribers();
  #position = START;

  /** `onChange`: called after each batch of events. */
  constructor(eventStore: EventStore, onChange: () => void) {
    this.#eventStore = eventStore;
    this.#onChange = onChange;
  }

  /** Also `paused` while the account's tier has no webhooks: queued deliveries then wait for an upgrade. */
  find(webhookId: string): Subscriber | undefined {
    const webhook = this.#subscribers.webhooks.get(webhookId);
    if (webhook?.status !== "active" || this.#subscribers.entitled.has(webhook.accountId)) return webhook;
    return { ...webhook, status: "paused" };
  }

  paused(): string[] {
    const ids = [...this.#subscribers.webhooks.keys()];
    return ids.filter((webhookId) => this.find(webhookId)?.status === "paused");
  }

  /** Reads all account events up to the current head. @throws what the store throws */
  async catchUp(): Promise<void> {
    const head = await this.#eventStore.head();
    await foldAccounts(this.#eventStore, this.#subscribers, this.#position, head);
    this.#position = head;
  }

  /** Resolves when the signal aborts or the subscription is dropped. @throws what the store throws */
  async follow(signal: AbortSignal): Promise<void> {
    const options = { after: this.#position, categories: [CATEGORY.account], signal, batchSize: BATCH };
    for await (const { events, next } of this.#eventStore.subscribe(options)) {
      for (const recorded of events)
        takeEvent(recorded, (event) => foldSubscribers(this.#subscribers, event));
      this.#position = next;
      if (events.length > 0) this.#onChange();
    }
  }
}

/** Folds the account events after `after`, up to and including `upTo`, and passes those that can't be read. */
export async function foldAccounts(
  eventStore: EventStore,
  subscribers: Subscribers,
  after: Position,
  upTo: Position,
  onRefused?: OnRefused,
): Promise<void> {
  const part = { after, upTo, categories: [CATEGORY.account], limit: BATCH };
  for await (const { events } of logPages(eventStore, part))
    for (const recorded of events)
      takeEvent(recorded, (event) => foldSubscribers(subscribers, event), onRefused);
}
