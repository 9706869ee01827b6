// Walks over the clicks of a link, of an account or of everybody in the log: for proofs, withdrawals, exports and searches.
import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import type { ClickEvent } from "../analytics/counting/list-rows.ts";
import { ownerOf } from "../feed/account-events.ts";

/** `link`: `<host>/<slug>`. Of everybody by default. */
export type Clicked = { link?: string | undefined; accountId?: string | undefined };

/** What is walked over: `from` inclusive. */
type Part = ({ after: Position } | { from: Position }) & { upTo: Position };

type LoggedClick = ClickEvent | { unreadable: RecordedEvent };

/** Bounds the memory of a reader, which holds a few batches at a time, and for how long a read keeps its thread. */
export const CLICK_PAGES = { categories: [CATEGORY.clicks], limit: 1_000 };

/**
 * In log order, up to `upTo`, inclusive. The log has no index by link, so all clicks of the part
 * are read and filtered; a batch may be empty. One that can't be read, and that is of them or may be, is `unreadable`. @throws
 * EventNewer
 */
export async function* clicksInLog(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  of: Clicked,
  part: Part,
): AsyncGenerator<LoggedClick[]> {
  const isWanted = mayBeOf(of);
  for await (const { events } of logPages(eventStore, { ...part, ...CLICK_PAGES }))
    yield events.filter(isWanted).flatMap((recorded): LoggedClick[] => {
      let isUnreadable = false;
      const event = readableEvent(recorded, () => {
        isUnreadable = true;
      });
      if (event?.type === "LinkClicked") return [event];
      return isUnreadable ? [{ unreadable: recorded }] : [];
    });
}

/** Before the data is validated, as most clicks are of others. One that doesn't say whose it is may be anybody's. */
export function mayBeOf({ link, accountId }: Clicked): (click: RecordedEvent) => boolean {
  return (click) =>
    (link === undefined || (linkOf(click) ?? link) === link) &&
    (accountId === undefined || (ownerOf(click) ?? accountId) === accountId);
}

/** The link that the event says it is a click of; undefined for one that doesn't say so. */
export function linkOf({ data }: RecordedEvent): string | undefined {
  const link = (data as { link?: unknown } | null)?.link;
  return typeof link === "string" ? link : undefined;
}
