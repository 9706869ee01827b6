// Reads of EventStoreDB: one stream, the log or a part of it, the last event of the log, and its live tail.
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ResolvedEvent,
  START,
} from "@eventstore/db-client";
import { backoffMs } from "../../../runtime/keep-trying.ts";
import type { Position, ReadAllOptions, ReadOptions, RecordedEvent, SubscribeOptions } from "../port.ts";
import { type Deps, isMissingStream, leaveOrThrow } from "./errors.ts";
import { logPosition, recorded } from "./events.ts";
import { batchesOf, type Placed, type PullOptions } from "./pull.ts";
import { ofCategories, type Selection } from "./selections.ts";

/** A node that follows may lag, so it refuses and names the leader. */
const requiresLeader = true;

/** Events that wait here for their consumer, twice; with the client's default of 16 a third fewer come in a second. */
const BUFFER = 1_000;

/**
 * The pause doesn't grow: what follows one after an outage, such as a key that was deactivated on another node meanwhile,
 * would be late by it. Trying again costs the server nothing while it is unavailable.
 */
const RESUBSCRIBE = { fromMs: 500, toMs: 500 };

/** Undefined for a missing stream, as which one counts that was deleted, until it is appended to again. */
export async function readStream<T extends Placed>(
  client: EventStoreDBClient,
  stream: string,
  { from, backwards = false, limit = Number.MAX_SAFE_INTEGER }: ReadOptions,
  idleMs: number,
  read: (event: ResolvedEvent) => T,
): Promise<T[] | undefined> {
  if (limit <= 0) return [];
  const options = {
    fromRevision: from === undefined ? (backwards ? END : START) : BigInt(from),
    direction: backwards ? BACKWARDS : FORWARDS,
    maxCount: limit,
    requiresLeader,
  } as const;
  const events = client.readStream(stream, options, { highWaterMark: BUFFER });
  try {
    return await collect(batchesOf(events, { read, idleMs }));
  } catch (error) {
    if (isMissingStream(error)) return undefined;
    throw error;
  }
}

/** The next events of some categories. */
export async function readPage(
  client: EventStoreDBClient,
  { after, from, categories, limit }: ReadAllOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  if (limit <= 0 || categories.length === 0) return [];
  const selection = ofCategories(categories);
  if (from === undefined) return await selectedAfter(client, selection, { after, limit, idleMs });
  const event = client.readAll({ fromPosition: logPosition(from), maxCount: 1, requiresLeader });
  const events = await collect(batchesOf(event, { read: recorded, idleMs }));
  const first = events.filter((event) => event.position === from && selection.isWanted(event));
  const rest = { after: from, categories, limit: limit - first.length };
  return [...first, ...(await readPage(client, rest, idleMs))];
}

/** The next events of a selection, by a subscription, as the client's own read of the log takes no filter. */
export async function selectedAfter<T extends Placed>(
  client: EventStoreDBClient,
  selection: Selection<T>,
  { after, limit, idleMs }: { after: Position | undefined; limit: number; idleMs: number },
): Promise<T[]> {
  if (limit <= 0) return [];
  const log = { after, untilCaughtUp: true };
  return await collect(logAfter(client, selection, log, { idleMs, batchSize: limit }), limit);
}

/** Of the whole log: also system events and other programs' streams, for lag is counted against the log's end. */
export async function readHead(client: EventStoreDBClient, idleMs: number): Promise<Position | undefined> {
  const last = { direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader } as const;
  return (await collect(batchesOf(client.readAll(last), { read: recorded, idleMs })))[0]?.position;
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
    const log = { after, untilCaughtUp: false };
    const pull = { idleMs: deps.silenceMs, isStuck, batchSize, signal };
    try {
      for await (const batch of logAfter(client, ofCategories(categories), log, pull)) {
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
function logAfter<T extends Placed>(
  client: EventStoreDBClient,
  { filter, isWanted, read }: Selection<T>,
  log: { after: Position | undefined; untilCaughtUp: boolean },
  pull: Omit<PullOptions<T>, "read" | "log">,
): AsyncGenerator<T[]> {
  const fromPosition = log.after === undefined ? START : logPosition(log.after);
  // A page wants no more than its limit.
  const highWaterMark = log.untilCaughtUp ? Math.min(pull.batchSize ?? BUFFER, BUFFER) : BUFFER;
  const subscription = client.subscribeToAll({ fromPosition, filter, requiresLeader }, { highWaterMark });
  return batchesOf(subscription, { ...pull, read, log: { ...log, isWanted } });
}

/** Up to the end, but where the limit says otherwise: a read that is left before its end stays with the client. */
async function collect<T>(batches: AsyncGenerator<T[]>, limit = Number.POSITIVE_INFINITY): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) {
    for (const event of batch) items.push(event);
    if (items.length >= limit) break;
  }
  return items.slice(0, limit);
}
