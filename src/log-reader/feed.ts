// The log reader's event feed: pages and live events of one account, written as JSON in the thread.
import type { EventStore, RecordedEvent } from "../event-store/port.ts";
import { accountStream, CATEGORY } from "../events/streams.ts";
import { ownerOf, ownerOfUnreadable } from "../queries/feed/account-events.ts";
import { accountFeed, wantedEvents } from "../queries/feed/account-feed.ts";
import { cloudEvent, type FeedForm, feedEvent } from "../queries/feed/feed-event.ts";
import { type LiveEventBatch, type LiveEventsDeps, liveEvents } from "../queries/feed/live-events.ts";
import type { FeedBatch, LogReader } from "./log-reader.ts";

export function feedReader(
  deps: LiveEventsDeps & { eventStore: EventStore; baseUrl: string },
): Pick<LogReader, "feed" | "followAccount"> {
  const keyOf = (event: RecordedEvent) => ownerOf(event) ?? ownerOfUnreadable(deps, event);
  const live = liveEvents(deps, { categories: Object.values(CATEGORY), keyOf });
  const jsonOf = (event: RecordedEvent, form: FeedForm) =>
    JSON.stringify(form === "plain" ? feedEvent(event) : cloudEvent(event, deps.baseUrl));
  return {
    async feed(accountId, request, form) {
      const { events, ...rest } = await accountFeed(deps, accountId, request);
      return { events: events.map((event) => jsonOf(event, form)), ...rest };
    },
    async *followAccount(accountId, after, types, form, signal) {
      const isWanted = wantedEvents(types);
      const batchOf = ({ events, position }: LiveEventBatch): FeedBatch => ({
        events: events
          .filter(isWanted)
          .map((event) => ({ position: event.position, json: jsonOf(event, form) })),
        position,
      });
      let from = after ?? "";
      if (after === undefined) {
        const events = await deps.eventStore.read(accountStream(accountId), { limit: 1 });
        from = events[0]?.position ?? "";
        yield batchOf({ events, position: from });
      }
      const batches = live.follow(accountId, from, signal);
      try {
        for (;;) {
          const { done, value } = await batches.next();
          if (done) return value;
          yield batchOf(value);
        }
      } finally {
        await batches.return(undefined);
      }
    },
  };
}
