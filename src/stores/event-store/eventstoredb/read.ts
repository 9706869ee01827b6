// Reads of EventStoreDB: one stream, all streams of some categories, the last event of the log, and its live tail.
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  START,
  streamNameFilter,
} from "@eventstore/db-client";
import { backoffMs } from "../../../runtime/keep-trying.ts";
import type { Position, ReadAllOptions, ReadOptions, RecordedEvent, SubscribeOptions } from "../port.ts";
import { type Deps, isMissingStream, leaveOrThrow } from "./errors.ts";
import { logPosition } from "./events.ts";
import { ALIVE, batchesOf, type PullOptions } from "./pull.ts";

/** A node that follows may lag, so it refuses and names the leader. */
const requiresLeader = true;

/** Events that wait here for their consumer, twice; with the client's default of 16 a third fewer come in a second. */
const BUFFER = 1_000;

/** Events that the server looks through, matching or not, before it gives a sign of life. */
const SEARCH_WINDOW = 1_000;

/**
 * The pause doesn't grow: what follows one after an outage, such as a key that was deactivated on another node meanwhile,
 * would be late by it. Trying again costs the server nothing while it is unavailable.
 */
const RESUBSCRIBE = { fromMs: 500, toMs: 500 };

/** A missing or deleted stream reads as empty. */
export async function readStream(
  client: EventStoreDBClient,
  stream: string,
  { from, backwards = false, limit = Number.MAX_SAFE_INTEGER }: ReadOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  if (limit <= 0) return [];
  const options = {
    fromRevision: from === undefined ? (backwards ? END : START) : BigInt(from),
    direction: backwards ? BACKWARDS : FORWARDS,
    maxCount: limit,
    requiresLeader,
  } as const;
  return await collect(batchesOf(client.readStream(stream, options, { highWaterMark: BUFFER }), { idleMs }));
}

/** Of a subscription, as the client's own read of the log takes no filter. */
export async function readPage(
  client: EventStoreDBClient,
  { after, from, categories, limit }: ReadAllOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  if (limit <= 0 || categories.length === 0) return [];
  if (from !== undefined) {
    const one = client.readAll({ fromPosition: logPosition(from), maxCount: 1, requiresLeader });
    const log = { after: undefined, categories, untilCaughtUp: false };
    const found = await collect(batchesOf(one, { idleMs, log }));
    const first = found.filter(({ position }) => position === from);
    const rest = { after: from, categories, limit: limit - first.length };
    return [...first, ...(await readPage(client, rest, idleMs))];
  }
  const log = { after, categories, untilCaughtUp: true };
  return await collect(logAfter(client, log, { idleMs, batchSize: limit }), limit);
}

/** Of the whole log: also system events and other programs' streams, for lag is counted against the log's end. */
export async function readHead(client: EventStoreDBClient, idleMs: number): Promise<Position | undefined> {
  const last = { direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader } as const;
  return (await collect(batchesOf(client.readAll(last), { idleMs })))[0]?.position;
}

/**
 * Subscribes again after the last event that it yielded whenever the server ends the subscription, also without an error.
 * @throws whatever is not transient, such as refused credentials
 */
export async function* subscribeForEver(
  deps: Deps,
  options: SubscribeOptions,
): AsyncGenerator<RecordedEvent[]> {
  const { categories, signal, batchSize = 500 } = options;
  let { after } = options;
  while (!signal.aborted) {
    const client = deps.servers.current;
    const isStuck = silenceCheck(deps, client, categories);
    const log = { after, categories, untilCaughtUp: false };
    const pull = { idleMs: deps.silenceMs, isStuck, batchSize, signal };
    try {
      for await (const batch of logAfter(client, log, pull)) {
        after = batch.at(-1)?.position;
        yield batch;
      }
    } catch (error) {
      leaveOrThrow(deps.servers, client, error);
    }
    await deps.sleep(backoffMs(1, RESUBSCRIBE, deps.random), signal);
  }
}

/** Finds out whether the log has grown in silence by events of other streams, or by some that were missed. */
function silenceCheck(deps: Deps, client: EventStoreDBClient, categories: readonly string[]) {
  let searchedTo: Position | undefined;
  return async (last: Position | undefined) => {
    const after = (searchedTo ?? "") > (last ?? "") ? searchedTo : last;
    const head = await readHead(client, deps.timeoutMs);
    if (head === undefined || head <= (after ?? "")) return false;
    const missed = await readPage(client, { after, categories, limit: 1 }, deps.silenceMs);
    if (missed.length === 0) searchedTo = head;
    return missed.length > 0;
  };
}

/** After `log.after`, which is exclusive. */
function logAfter(client: EventStoreDBClient, log: NonNullable<PullOptions["log"]>, pull: PullOptions) {
  const filter = streamNameFilter({
    prefixes: [...log.categories],
    maxSearchWindow: SEARCH_WINDOW,
    // Its position is not used: some servers sent it too early, twice, or ahead of events that wait here.
    checkpointReached: (subscription) => void subscription.emit(ALIVE),
  });
  const fromPosition = log.after === undefined ? START : logPosition(log.after);
  // A page wants no more than its limit.
  const highWaterMark = log.untilCaughtUp ? Math.min(pull.batchSize ?? BUFFER, BUFFER) : BUFFER;
  const subscription = client.subscribeToAll({ fromPosition, filter, requiresLeader }, { highWaterMark });
  return batchesOf(subscription, { ...pull, log });
}

/** Up to the end, but where the limit says otherwise: a read that is left before its end stays with the client. */
async function collect(batches: AsyncGenerator<RecordedEvent[]>, limit = Number.POSITIVE_INFINITY) {
  const found: RecordedEvent[] = [];
  try {
    for await (const batch of batches) {
      for (const event of batch) found.push(event);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  } catch (error) {
    if (isMissingStream(error)) return [];
    throw error;
  }
}
