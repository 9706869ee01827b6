// Folds a link's document from its own stream with the projection's fold: strongly consistent.
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import { streamPages } from "../../event-store/stream-pages.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { readableEvent } from "../../events/read-event.ts";
import { PREFIX } from "../../events/streams.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";

/** Called with the events in order. */
type Listeners = {
  /** Also with those that can't be read. */
  onRecorded?: (recorded: RecordedEvent) => void;
  onEvent?: (event: StoredEvent) => void;
  onUnreadable?: (recorded: RecordedEvent) => void;
};

/**
 * `key`: `<host>/<slug>` (linkKey). Undefined for no such link; finds deleted links. As in the projection, events that can't
 * be read are passed. @throws StoreUnavailable, EventNewer
 */
export async function linkFromStream(
  eventStore: Pick<EventStore, "read">,
  key: string,
  { onRecorded, onEvent = () => undefined, onUnreadable }: Listeners = {},
): Promise<LinkDocument | undefined> {
  let link: LinkDocument | undefined;
  for await (const page of streamPages(eventStore, `${PREFIX.link}${key}`))
    for (const recorded of page) {
      onRecorded?.(recorded);
      const event = readableEvent(recorded, onUnreadable);
      if (!event) continue;
      onEvent(event);
      link = { ...links.evolve(link ?? links.empty(event), event), _id: key, _position: event.position };
    }
  return link;
}
