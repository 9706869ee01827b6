// An account's own events in the order of the log: whose an event is, pages from a position, and all for an export.

import { type EventType, isEventType } from "../../events/catalogue.ts";
import { readableEvent } from "../../events/read-event.ts";
import { accountStream, CATEGORY, PREFIX } from "../../events/streams.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { EVERY_KEY } from "./live-events.ts";

type Deps = { eventStore: Pick<EventStore, "read" | "readAll" | "head"> };
type StreamDeps = { eventStore: Pick<EventStore, "read"> };

/** `after`: undefined begins with AccountOpened. `types`: all when empty. */
export type FeedRequest = { after: Position | undefined; types: readonly EventType[]; limit: number };

/**
 * `next`: the log is searched up to here; the next page comes after it. `more`: the search ended before the end of the
 * log, at the limit or at MOST_SEARCHED, so the page may be empty and there may be more all the same.
 */
export type FeedPage = { events: RecordedEvent[]; next: Position; more: boolean };

/** Of events of all accounts: bounds the memory of a reader, which holds a few batches at a time. */
const BATCH = 500;
/** Events of all accounts that are read for one page. */
const MOST_SEARCHED = 10_000;
/** Of a stream whose owner is searched for. */
const MOST_OF_STREAM = 50;

/**
 * The account's next events, none passed over. Always reads all streams of the log: with a filter by the wanted types alone,
 * an EventStoreDB would search for the next one without a bound.
 */
export async function accountFeed(deps: Deps, accountId: string, request: FeedRequest): Promise<FeedPage> {
  const { after, types, limit } = request;
  const isWanted = wantedEvents(types);
  const from = after ?? (await firstEvent(deps, accountId))?.position;
  if (from === undefined) return { events: [], next: await deps.eventStore.head(), more: false };
  const events: RecordedEvent[] = [];
  let [next, searched] = [from, 0];
  const part = { ...(after === undefined ? { from } : { after }), categories: Object.values(CATEGORY) };
  for await (const { events: batch, next: upTo } of logPages(deps.eventStore, { ...part, limit: BATCH })) {
    for (const event of batch) {
      if (isWanted(event) && (await isShownTo(deps, accountId, event))) events.push(event);
      if (events.length === limit) return { events, next: event.position, more: true };
    }
    next = upTo;
    searched += batch.length;
    if (searched >= MOST_SEARCHED) return { events, next, more: true };
  }
  return { events, next, more: false };
}

/**
 * All of them, or those of fewer categories, from AccountOpened to the head of the log at the call, with those that can't be
 * read and may be the account's. Reads the whole log of that time and filters it, because clicks of all accounts share
 * streams; a page may be empty.
 */
export async function* accountEvents(
  deps: Deps,
  accountId: string,
  categories: readonly string[] = Object.values(CATEGORY),
): AsyncGenerator<RecordedEvent[]> {
  const first = await firstEvent(deps, accountId);
  if (!first) return;
  const part = { from: first.position, upTo: await deps.eventStore.head(), categories, limit: BATCH };
  for await (const { events } of logPages(deps.eventStore, part)) {
    const own: RecordedEvent[] = [];
    for (const event of events) if (await isShownTo(deps, accountId, event)) own.push(event);
    yield own;
  }
}

/** AccountOpened. */
export async function firstEvent(
  { eventStore }: StreamDeps,
  accountId: string,
): Promise<RecordedEvent | undefined> {
  return (await eventStore.read(accountStream(accountId), { limit: 1 }))[0];
}

/** Whether an event is one of the types, or of a type that there isn't; every event when there are none. */
export function wantedEvents(types: readonly EventType[]): (event: RecordedEvent) => boolean {
  const wanted = new Set<string>(types);
  return ({ type }) => wanted.size === 0 || wanted.has(type) || !isEventType(type);
}

/** Whether the event is the account's, or can't be read and may be. */
async function isShownTo(deps: StreamDeps, accountId: string, event: RecordedEvent): Promise<boolean> {
  const owner = ownerOf(event) ?? (await ownerOfUnreadable(deps, event));
  return owner === accountId || owner === EVERY_KEY;
}

/** The account that the event says it belongs to; undefined for one that says nothing. */
export function ownerOf({ data }: Pick<RecordedEvent, "data">): string | undefined {
  const owner = (data as { accountId?: unknown } | null)?.accountId;
  return typeof owner === "string" ? owner : undefined;
}

/**
 * For an event without an account: undefined where it belongs to none, EVERY_KEY where it can't be read and its stream doesn't
 * tell whose it is.
 */
export async function ownerOfUnreadable(deps: StreamDeps, event: RecordedEvent): Promise<string | undefined> {
  const isNobodys = [PREFIX.operator, PREFIX.gaps, PREFIX.person].some((prefix) =>
    event.stream.startsWith(prefix),
  );
  if (isNobodys || readableEvent(event)) return undefined;
  return (await ownerOfStream(deps, event)) ?? EVERY_KEY;
}

async function ownerOfStream(
  { eventStore }: StreamDeps,
  { stream, revision }: RecordedEvent,
): Promise<string | undefined> {
  const { account, link, withdrawals, domain } = PREFIX;
  if (stream.startsWith(account)) return stream.slice(account.length);
  const search = async (name: string, options: { from?: number; backwards?: boolean }) =>
    (await eventStore.read(name, { ...options, limit: MOST_OF_STREAM })).map(ownerOf).find(Boolean);
  // A link never changes its owner; a hostname may, with each claim.
  if (stream.startsWith(link)) return await search(stream, {});
  if (stream.startsWith(withdrawals)) return await search(`${link}${stream.slice(withdrawals.length)}`, {});
  if (stream.startsWith(domain)) return await search(stream, { from: revision, backwards: true });
  return undefined;
}
