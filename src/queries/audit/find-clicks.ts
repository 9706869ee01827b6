// Clicks by link, account and time, from the log: read from the hour on in which they were recorded.
import { linkOf } from "../../click-log/clicks-between.ts";
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import { CATEGORY } from "../../events/streams.ts";
import { hourOf } from "../../projections/definitions/click-hours.ts";
import { CLOCK_SKEW_MS } from "../../runtime/moment.ts";
import { lastHourOf } from "../analytics/click-positions.ts";
import { ownerOf } from "../feed/account-events.ts";

/**
 * `from` is inclusive, `to` exclusive: times of recording, ISO 8601 UTC; all by default. `after`: a position before `from`. `last`: of the
 * last click known of those hours; a click of a later hour before it is of a clock that was set back.
 */
export type ClickSearch = {
  after: Position | undefined;
  last: Position | undefined;
  from: string | undefined;
  to: string | undefined;
  /** `<host>/<slug>` */
  link?: string | undefined;
  account?: string | undefined;
  limit: number;
};

/** `next`: the search goes on behind this position; null at its end. A page may be empty and have a next one. */
export type FoundClicks = { events: RecordedEvent[]; next: Position | null };

export type FindClicks = (search: ClickSearch) => Promise<FoundClicks>;

const BATCH = 2_000;
/** Clicks that are read for one answer, in which another caller of the thread waits. */
const MOST_SEARCHED = 50_000;

/** In the order of the log. Runs in the log reader's thread, as clicks of all links are read. */
export async function findClicks(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  { after, last = "", from = "", to, link, account, limit }: ClickSearch,
): Promise<FoundClicks> {
  const end = to === undefined ? "~" : new Date(Date.parse(to) + CLOCK_SKEW_MS).toISOString();
  const lastHour = to && lastHourOf(to);
  const events: RecordedEvent[] = [];
  let position = after;
  let searched = 0;
  const part = { after, categories: [CATEGORY.clicks], limit: BATCH };
  for await (const batch of logPages(eventStore, part)) {
    for (const event of batch) {
      if (isBehind(event)) return { events, next: null };
      if (isWanted(event)) events.push(event);
      position = event.position;
      if (events.length === limit) return { events, next: position };
    }
    searched += batch.length;
    if (searched >= MOST_SEARCHED) return { events, next: position ?? null };
  }
  return { events, next: null };

  function isBehind({ recordedAt, position }: RecordedEvent): boolean {
    return recordedAt >= end && (position > last || hourOf(recordedAt) === lastHour);
  }

  /** One that can't be read and doesn't say whose it is may be a wanted one. */
  function isWanted(click: RecordedEvent): boolean {
    if (click.recordedAt < from || click.recordedAt >= (to ?? "~")) return false;
    return (
      (link === undefined || (linkOf(click) ?? link) === link) &&
      (account === undefined || (ownerOf(click) ?? account) === account)
    );
  }
}
