// Reads of EventStoreDB: one stream, the log or a part of it, the last event of the log, and its live tail.
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ResolvedEvent,
  START,
} from "@eventstore/db-client";
import { Failure } from "../../../runtime/errors.ts";
import { backoffMs } from "../../../runtime/keep-trying.ts";
import { pause } from "../../../runtime/pause.ts";
import {
  START as LOG_START,
  type LogPage,
  type PageAsRead,
  type Position,
  type ReadAllOptions,
  type ReadOptions,
  type RecordedEvent,
  type SubscribeOptions,
} from "../port.ts";
import { type Deps, isMissingStream, leaveOrThrow, NoAnswer, READ_LOG } from "./errors.ts";
import { logPosition, recorded } from "./events.ts";
import { type PartOfLog, type Placed, type PulledPage, type PullOptions, pagesOf } from "./pull.ts";
import { ofCategories, type Selection, textsOfEvents } from "./selections.ts";

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
    return await collect(pagesOf(events, { read, idleMs }));
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
): Promise<LogPage> {
  if (categories.length === 0) return { events: [], next: after ?? from };
  const selection = ofCategories(categories);
  if (from === undefined) return await selectedAfter(client, selection, { after, limit, idleMs });
  const first = (await eventAt(client, from, idleMs))
    .filter((event) => selection.isWanted(event))
    .slice(0, limit);
  const rest = { after: from, limit: limit - first.length, idleMs };
  const { events, next } = await selectedAfter(client, selection, rest);
  return { events: [...first, ...events], next };
}

/** The next events of a selection, by a subscription, as the client's own read of the log takes no filter. */
export async function selectedAfter<T extends Placed>(
  client: EventStoreDBClient,
  selection: Selection<T>,
  { after, limit, idleMs }: { after: Position; limit: number; idleMs: number },
): Promise<LogPage<T>> {
  logPosition(after);
  const head = await readHead(client, idleMs);
  const events: T[] = [];
  let next = after;
  if (limit <= 0 || head <= after) return { events, next };
  const log = { after, head, untilCaughtUp: true };
  for await (const page of logAfter(client, selection, log, { idleMs, batchSize: limit })) {
    for (const event of page.events) events.push(event);
    if (events.length >= limit) return cut(events, limit);
    next = page.next;
  }
  if (next < head) throw new NoAnswer(idleMs);
  return { events, next };
}

function cut<T extends Placed>(events: readonly T[], limit: number): LogPage<T> {
  return { events: events.slice(0, limit), next: (events[limit - 1] as T).position };
}

/** Of the whole log: also system events and other programs' streams, for lag is counted against the log's end. */
export async function readHead(client: EventStoreDBClient, idleMs: number): Promise<Position> {
  const last = { direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader } as const;
  const [event] = await collect(pagesOf(client.readAll(last), { read: recorded, idleMs }));
  return event?.position ?? LOG_START;
}

export async function readIdAt(
  client: EventStoreDBClient,
  position: Position,
  idleMs: number,
): Promise<string | undefined> {
  if (position === LOG_START) return undefined;
  logPosition(position);
  try {
    return (await eventAt(client, position, idleMs))[0]?.id;
  } catch (error) {
    if (error instanceof Failure && error.code === "invalid_position") return undefined;
    throw error;
  }
}

/** None where no event begins at the position. */
async function eventAt(
  client: EventStoreDBClient,
  position: Position,
  idleMs: number,
): Promise<RecordedEvent[]> {
  const event = client.readAll({ fromPosition: logPosition(position), maxCount: 1, requiresLeader });
  const events = await collect(pagesOf(event, { read: recorded, idleMs }));
  return events.filter((event) => event.position === position);
}

/**
 * Subscribes again after what it has looked through whenever the server ends the subscription, also without an error.
 * @throws whatever is not transient, such as refused credentials
 */
export async function* subscribeForEver(deps: Deps, options: SubscribeOptions): AsyncGenerator<PageAsRead> {
  const { categories, signal, batchSize = 500 } = options;
  let { after } = options;
  logPosition(after);
  while (!signal.aborted) {
    const client = deps.servers.current;
    try {
      const head = await readHead(client, deps.timeoutMs);
      const isQuiet = async (next: Position) => (await readHead(client, deps.timeoutMs)) <= next;
      const log = { after, head, untilCaughtUp: false, isQuiet };
      const pull = { idleMs: deps.silenceMs, batchSize, signal };
      for await (const page of logAfter(client, ofCategories(categories), log, pull)) {
        const { events, next, sources } = page;
        after = next;
        yield { events, next, texts: () => textsOfEvents(events, sources) };
      }
    } catch (error) {
      leaveOrThrow(deps.servers, client, error, READ_LOG);
    }
    await pause(backoffMs(1, RESUBSCRIBE, deps.random), signal);
  }
}

/** After `log.after`, which is exclusive. */
function logAfter<T extends Placed>(
  client: EventStoreDBClient,
  { filter, isWanted, read }: Selection<T>,
  log: Omit<PartOfLog<T>, "isWanted">,
  pull: Omit<PullOptions<T>, "read" | "log">,
): AsyncGenerator<PulledPage<T>> {
  const fromPosition = logPosition(log.after);
  // A page wants no more than its limit.
  const highWaterMark = log.untilCaughtUp ? Math.min(pull.batchSize ?? BUFFER, BUFFER) : BUFFER;
  const subscription = client.subscribeToAll({ fromPosition, filter, requiresLeader }, { highWaterMark });
  return pagesOf(subscription, { ...pull, read, log: { ...log, isWanted } });
}

async function collect<T>(pages: AsyncGenerator<LogPage<T>>): Promise<T[]> {
  const items: T[] = [];
  for await (const { events } of pages) for (const event of events) items.push(event);
  return items;
}
