// GET /api/v1/events: one page of an account's events, by position, with a bound on what is read for it.
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import { type EventType, isEventType } from "../../events/catalogue.ts";
import { accountStream, CATEGORY } from "../../events/streams.ts";
import { isShownTo } from "./account-events.ts";

export type FeedRequest = {
  /** Exclusive; undefined begins with AccountOpened. */
  after: Position | undefined;
  /** All when empty. */
  types: readonly EventType[];
  limit: number;
};

/**
 * `next`: the log is searched up to here; the next page comes after it. `more`: the search ended before the end of the
 * log, at the limit or at MOST_SEARCHED, so the page may be empty and there may be more all the same.
 */
export type FeedPage = { events: RecordedEvent[]; next: Position; more: boolean };

const BATCH = 1_000;
/** Events of all accounts that are read for one page. */
const MOST_SEARCHED = 10_000;

/**
 * The account's next events in the order of the log, none passed over. Always reads all streams of the log: with a
 * filter by the wanted types alone, an EventStoreDB would search for the next one without a bound.
 */
export async function accountFeed(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll" | "head"> },
  accountId: string,
  { after, types, limit }: FeedRequest,
): Promise<FeedPage> {
  const isWanted = wantedEvents(types);
  const events: RecordedEvent[] = [];
  let position = after;
  if (position === undefined) {
    const [opened] = await eventStore.read(accountStream(accountId), { limit: 1 });
    if (opened && isWanted(opened)) events.push(opened);
    position = opened?.position ?? "";
    if (events.length === limit) return { events, next: position, more: true };
  }
  // Before the reads: what is appended meanwhile must not be passed over by `next`.
  const head = (await eventStore.head()) ?? "";
  let searched = 0;
  const part = { after: position, categories: Object.values(CATEGORY), limit: BATCH };
  for await (const batch of logPages(eventStore, part)) {
    for (const event of batch) {
      position = event.position;
      if (isWanted(event) && (await isShownTo({ eventStore }, accountId, event))) events.push(event);
      if (events.length === limit) return { events, next: position, more: true };
    }
    searched += batch.length;
    if (searched >= MOST_SEARCHED) return { events, next: position, more: true };
  }
  // The log's last events may be of none of these streams, such as an EventStoreDB's own.
  return { events, next: later(position, head), more: false };
}

function later(one: Position, other: Position): Position {
  return one < other ? other : one;
}

/** Whether an event is one of the types, or of a type that there isn't; every event when there are none. */
export function wantedEvents(types: readonly EventType[]): (event: RecordedEvent) => boolean {
  const wanted = new Set<string>(types);
  return ({ type }) => wanted.size === 0 || wanted.has(type) || !isEventType(type);
}
