// Folds a link's document from its own stream with the projection's fold: strongly consistent.
import { loadStream } from "../../commands/handle-command.ts";
import type { EventStore } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";

/**
 * `key`: `<host>/<slug>` (linkKey). `onEvent`: called with each event in order. Undefined when the stream is empty; finds
 * deleted links.
 * @throws StoreUnavailable, EventUnreadable
 */
export async function linkFromStream(
  eventStore: Pick<EventStore, "read">,
  key: string,
  onEvent: (event: StoredEvent) => void = () => undefined,
): Promise<LinkDocument | undefined> {
  const fold = (link: LinkDocument | undefined, event: StoredEvent): LinkDocument => {
    onEvent(event);
    return { ...links.evolve(link ?? links.empty(event), event), _id: key, _position: event.position };
  };
  const { state } = await loadStream(eventStore, {
    stream: `${PREFIX.link}${key}`,
    initial: undefined,
    fold,
  });
  return state;
}
