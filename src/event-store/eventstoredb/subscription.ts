// The live tail of EventStoreDB for the consumers of the port: pulled, filtered by the server, renewed for ever.
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AllStreamSubscription,
  type EventStoreDBClient,
  START,
  streamNameFilter,
} from "@eventstore/db-client";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Position, RecordedEvent } from "../port.ts";
import { type Backoff, isTransient, NoAnswer } from "./errors.ts";
import { logPosition, recordedEvent } from "./events.ts";
import { Pull } from "./pull.ts";
import { readHead, readPrefixes } from "./read.ts";

export type SubscriptionDeps = {
  client: EventStoreDBClient;
  backoff: Backoff;
  timeoutMs: number;
  /** Longest silence before the log is asked whether something was missed. */
  silenceMs: number;
  searchMs: number;
};

export type SubscriptionOptions = {
  after: Position | undefined;
  prefixes: readonly string[];
  signal: AbortSignal;
  batchSize: number;
};

const RETRY = { fromMs: 250, toMs: 15_000 };

/** Events; twice as many wait here while the consumer works, whatever its batch. */
const MOST_BUFFERED = 1000;

type Item = { event?: Parameters<typeof recordedEvent>[0] };

/**
 * Starts again from the last event it yielded whenever the server ends the subscription, also when it ends it
 * politely; the consumer keeps its own checkpoint. The server's checkpoints are not trusted with a position: some
 * versions sent them too early, twice, or ahead of events still buffered here. They only count as signs of life.
 * @throws whatever doesn't pass by itself, such as refused credentials
 */
export async function* subscribeForEver(
  deps: SubscriptionDeps,
  options: SubscriptionOptions,
): AsyncGenerator<RecordedEvent[]> {
  const { signal } = options;
  let after = options.after;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const batch of subscribeOnce(deps, { ...options, after })) {
        after = batch.at(-1)?.position ?? after;
        failures = 0;
        yield batch;
      }
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    if (signal.aborted) return;
    failures += 1;
    await deps.backoff.sleep(backoffMs(failures, RETRY, deps.backoff.random), signal);
  }
}

async function* subscribeOnce(
  deps: SubscriptionDeps,
  { after, prefixes, signal, batchSize }: SubscriptionOptions,
): AsyncGenerator<RecordedEvent[]> {
  let pull: Pull<Item> | undefined;
  const subscription = deps.client.subscribeToAll(
    {
      fromPosition: after === undefined ? START : logPosition(after),
      filter: streamNameFilter({
        prefixes: [...prefixes],
        maxSearchWindow: 1000,
        // Must never reject: the stream would stall for good.
        checkpointReached: async () => pull?.alive(),
      }),
    },
    { highWaterMark: Math.min(batchSize, MOST_BUFFERED) },
  );
  pull = new Pull<Item>(subscription, Date.now);
  subscription.on("caughtUp", () => pull?.alive());
  let last = after;
  try {
    while (!signal.aborted) {
      const first = await nextOrMissed(deps, pull, prefixes, last, signal);
      if (!first) return;
      // One turn of the event loop: what came over the wire with the first event goes into the same batch.
      await nextTurn();
      const batch = takeBatch(pull, first, last, batchSize);
      last = batch.at(-1)?.position ?? last;
      if (batch.length > 0) yield batch;
    }
  } finally {
    unsubscribe(subscription);
  }
}

/** What came after `last`, in order: a resent event, or one of a subscription that started too early, is left out. */
function takeBatch(
  pull: Pull<Item>,
  first: Item,
  last: Position | undefined,
  batchSize: number,
): RecordedEvent[] {
  const batch: RecordedEvent[] = [];
  let newest = last ?? "";
  for (
    let item: Item | undefined = first;
    item;
    item = batch.length < batchSize ? pull.buffered() : undefined
  ) {
    const event = item.event && recordedEvent(item.event);
    if (!event || event.position <= newest) continue;
    newest = event.position;
    batch.push(event);
  }
  return batch;
}

/** Undefined when the server ended the subscription or the signal aborted. @throws NoAnswer when it is stuck */
async function nextOrMissed(
  deps: SubscriptionDeps,
  pull: Pull<Item>,
  prefixes: readonly string[],
  last: Position | undefined,
  signal: AbortSignal,
): Promise<Item | undefined> {
  let searchedTo = last;
  for (;;) {
    try {
      return await pull.next(deps.silenceMs, "a subscription", signal);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (Date.now() - pull.lastArrival < deps.silenceMs) continue;
      const head = await readHead(deps.client, deps.timeoutMs);
      if (head === undefined || (searchedTo !== undefined && head <= searchedTo)) continue;
      // The log has grown in silence: by events of other streams, or the subscription is dead without knowing it.
      const missed = await readPrefixes(
        deps.client,
        { after: searchedTo, prefixes, limit: 1 },
        deps.searchMs,
      );
      const late = pull.buffered();
      if (late) return late;
      if (missed.length > 0) throw error;
      searchedTo = head;
    }
  }
}

/** Leaving the loop doesn't end the call on the server, this does; it may have no connection to end it on. */
function unsubscribe(subscription: AllStreamSubscription): void {
  subscription
    .unsubscribe()
    .catch(() => {})
    .finally(() => subscription.destroy());
}
