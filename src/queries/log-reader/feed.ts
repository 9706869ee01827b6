// The log reader's event feed: pages and live events of one account, written as JSON in the thread.

import { type EventStore, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import { accountFeed, firstEvent, ownerOf, ownerOfUnreadable, wantedEvents } from "../feed/account-events.ts";
import { cloudEvent, type FeedForm, feedEvent } from "../feed/feed-event.ts";
import { type LiveEventBatch, type LiveEventsDeps, liveEvents } from "../feed/live-events.ts";
import type { FeedBatch, LogReader } from "./log-reader.ts";

export function feedReader(
  deps: LiveEventsDeps & { eventStore: EventStore; baseUrl: string },
): Pick<LogReader, "feed" | "followAccount"> {
  const keyOf = (event: RecordedEvent) => ownerOf(event) ?? ownerOfUnreadable(deps, event);
  const live = liveEvents(deps, keyOf);
  const jsonOf = (event: RecordedEvent, form: FeedForm) => {
    if (form === "recorded") return JSON.stringify(event);
    return JSON.stringify(form === "plain" ? feedEvent(event) : cloudEvent(event, deps.baseUrl));
  };
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
      const first = after === undefined ? await firstEvent(deps, accountId) : undefined;
      if (first) yield batchOf({ events: [first], position: first.position });
      const from = after ?? first?.position ?? START;
      for await (const batch of live.follow(accountId, from, signal)) yield batchOf(batch);
    },
  };
}
