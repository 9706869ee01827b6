// The live tail of EventStoreDB for the consumers of the port: pulled, filtered by the server, renewed for ever.
import { setImmediate as nextTurn } from "node:timers/promises";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Position, RecordedEvent } from "../port.ts";
import type { Driver, EventPull } from "./driver.ts";
import { type Backoff, isTransient, lasting, NoAnswer } from "./errors.ts";
import { logPosition } from "./positions.ts";
import { readHead, readPrefixes } from "./read.ts";

export type SubscriptionDeps = {
  driver: Driver;
  backoff: Backoff;
  timeoutMs: number;
  /** Longest silence before the log is read to see whether events were missed. */
  silenceMs: number;
};

export type SubscriptionOptions = {
  after: Position | undefined;
  prefixes: readonly string[];
  signal: AbortSignal;
  batchSize: number;
};

/**
 * The pause doesn't grow: what follows one after an outage, such as a key that was deactivated on another node meanwhile,
 * would be late by it. Trying again costs the server nothing while it is unavailable.
 */
const RETRY = { fromMs: 500, toMs: 500 };

/** Events; twice as many wait here while the consumer works, whatever its batch. */
const MOST_BUFFERED = 1000;

/**
 * Subscribes again from the last event that it yielded whenever the server ends the subscription, also without an
 * error; the consumer keeps its own checkpoint. Positions in the server's checkpoints are not used: some versions sent
 * them too early, twice, or ahead of events still buffered here. They only count as signs of life.
 * @throws StoreFailed for whatever is not transient, such as refused credentials
 */
export async function* subscribeForEver(
  deps: SubscriptionDeps,
  options: SubscriptionOptions,
): AsyncGenerator<RecordedEvent[]> {
  const { signal } = options;
  let after = options.after;
  while (!signal.aborted) {
    try {
      for await (const batch of subscribeOnce(deps, { ...options, after })) {
        after = batch.at(-1)?.position ?? after;
        yield batch;
      }
    } catch (error) {
      if (!isTransient(error)) throw lasting(error);
    }
    if (signal.aborted) return;
    await deps.backoff.sleep(backoffMs(1, RETRY, deps.backoff.random), signal);
  }
}

async function* subscribeOnce(
  deps: SubscriptionDeps,
  { after, prefixes, signal, batchSize }: SubscriptionOptions,
): AsyncGenerator<RecordedEvent[]> {
  const pull = deps.driver.subscribeAll({
    after: after === undefined ? undefined : logPosition(after),
    prefixes,
    buffer: Math.min(batchSize, MOST_BUFFERED),
  });
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
    pull.cancel();
  }
}

/** What came after `last`, in order: a resent event, or one of a subscription that started too early, is left out. */
function takeBatch(
  pull: EventPull,
  first: RecordedEvent,
  last: Position | undefined,
  batchSize: number,
): RecordedEvent[] {
  const batch: RecordedEvent[] = [];
  let newest = last ?? "";
  for (
    let event: RecordedEvent | undefined = first;
    event;
    event = batch.length < batchSize ? pull.buffered() : undefined
  ) {
    if (event.position <= newest) continue;
    newest = event.position;
    batch.push(event);
  }
  return batch;
}

/** Undefined when the server ended the subscription or the signal aborted. @throws NoAnswer when it is stuck */
async function nextOrMissed(
  deps: SubscriptionDeps,
  pull: EventPull,
  prefixes: readonly string[],
  last: Position | undefined,
  signal: AbortSignal,
): Promise<RecordedEvent | undefined> {
  let searchedTo = last;
  for (;;) {
    try {
      return await pull.next(deps.silenceMs, "a subscription", signal);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (performance.now() - pull.lastArrival < deps.silenceMs) continue;
      const head = await readHead(deps.driver, deps.timeoutMs);
      if (head === undefined || (searchedTo !== undefined && head <= searchedTo)) continue;
      // The log has grown in silence: by events of other streams, or the subscription died without an error.
      const missed = await readPrefixes(deps.driver, { after: searchedTo, prefixes, limit: 1 });
      const late = pull.buffered();
      if (late) return late;
      if (missed.length > 0) throw error;
      searchedTo = head;
    }
  }
}
