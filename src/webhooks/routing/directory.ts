// What the worker knows of webhooks: address, and whether they are to be sent anything; follows the account streams.
import type { EventStore, Position } from "../../event-store/port.ts";
import { readEvent } from "../../events/read-event.ts";
import { PREFIX } from "../../events/streams.ts";
import { foldSubscribers, noSubscribers, type Subscriber, type Subscribers } from "./subscribers.ts";

const BATCH = 2_000;

export class WebhookDirectory {
  readonly #eventStore: EventStore;
  readonly #changed: () => void;
  #subscribers = noSubscribers();
  #position: Position | undefined;

  /** `changed`: called after events were taken in. */
  constructor(eventStore: EventStore, changed: () => void) {
    this.#eventStore = eventStore;
    this.#changed = changed;
  }

  /** Paused also means that its account has no webhooks on its tier: what is queued waits for an upgrade. */
  find(webhookId: string): Subscriber | undefined {
    const webhook = this.#subscribers.webhooks.get(webhookId);
    if (webhook?.status !== "active" || this.#subscribers.entitled.has(webhook.accountId)) return webhook;
    return { ...webhook, status: "paused" };
  }

  paused(): string[] {
    const ids = [...this.#subscribers.webhooks.keys()];
    return ids.filter((webhookId) => this.find(webhookId)?.status === "paused");
  }

  /** Everything that had been said before this call. @throws what the store throws */
  async catchUp(): Promise<void> {
    const head = await this.#eventStore.head();
    if (head === undefined) return;
    this.#position = await foldAccounts(this.#eventStore, this.#subscribers, this.#position, head);
  }

  /** Ends when the signal aborts, or the subscription is dropped. @throws what the store throws */
  async follow(signal: AbortSignal): Promise<void> {
    const options = { after: this.#position, prefixes: [PREFIX.account], signal, batchSize: BATCH };
    for await (const events of this.#eventStore.subscribe(options)) {
      for (const recorded of events) {
        const event = readEvent(recorded);
        if (event) foldSubscribers(this.#subscribers, event);
        this.#position = recorded.position;
      }
      this.#changed();
    }
  }
}

/** Folds the account events after `after`, up to and with `upTo`; answers the last position taken in. */
export async function foldAccounts(
  eventStore: EventStore,
  subscribers: Subscribers,
  after: Position | undefined,
  upTo: Position,
): Promise<Position | undefined> {
  let position = after;
  for (;;) {
    const events = await eventStore.readAll({ after: position, prefixes: [PREFIX.account], limit: BATCH });
    for (const recorded of events) {
      if (recorded.position > upTo) return position;
      const event = readEvent(recorded);
      if (event) foldSubscribers(subscribers, event);
      position = recorded.position;
    }
    if (events.length < BATCH) return position;
  }
}
