// Live clicks of single links, for the portal's live pages.
import { linkOf } from "../../click-log/clicks-between.ts";
import type { Position, RecordedEvent } from "../../event-store/port.ts";
import { type ClickFacts, clickFacts } from "../../events/click-facts.ts";
import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { type LiveEventsDeps, liveEvents } from "../feed/live-events.ts";

export type LiveClick = ClickFacts & { position: Position };

/** As LiveEventBatch. */
export type LiveBatch = { clicks: LiveClick[]; position: Position };

export type LiveClicks = {
  /** LiveEvents.follow for the clicks of a link, by its key. */
  follow(link: string, after: Position, signal: AbortSignal): AsyncGenerator<LiveBatch, "tooFar" | undefined>;
};

export function liveClicks(deps: LiveEventsDeps): LiveClicks {
  const live = liveEvents(deps, { categories: [CATEGORY.clicks], keyOf: linkOf });
  return {
    async *follow(link, after, signal) {
      const batches = live.follow(link, after, signal);
      try {
        for (;;) {
          const { done, value } = await batches.next();
          if (done) return value;
          yield { clicks: value.events.flatMap(clickOf), position: value.position };
        }
      } finally {
        await batches.return(undefined);
      }
    },
  };
}

/** None for an event that can't be read. */
function clickOf(recorded: RecordedEvent): LiveClick[] {
  const event = readableEvent(recorded);
  return event?.type === "LinkClicked" ? [{ ...clickFacts(event.data), position: event.position }] : [];
}
