// A fault double: a real event store whose chosen events are delivered as an adapter delivers what was spoilt by hand.
import type {
  EventStore,
  LogPage,
  Position,
  RecordedEvent,
  StoredText,
} from "../../../src/stores/event-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

export const SPOILINGS = {
  "cut bytes": (event) => ({ ...event, data: null, unreadable: "ends in the middle" }),
  "not JSON": (event) => ({ ...event, id: "", type: "", data: null, unreadable: "is not JSON" }),
  "wrong schema": (event) => ({ ...event, data: { at: "once" } }),
  "unknown type": (event) => ({ ...event, type: `${event.type}Twice` }),
} as const satisfies Record<string, (event: RecordedEvent) => RecordedEvent>;

export type Spoiling = keyof typeof SPOILINGS;

/** `spoilt`: by position. */
export function spoiltEventStore(sound: EventStore, spoilt: ReadonlyMap<Position, Spoiling>): EventStore {
  const deliver = (events: readonly RecordedEvent[]) =>
    events.map((event) => {
      const how = spoilt.get(event.position);
      return how ? SPOILINGS[how](event) : event;
    });
  const spoilText = (text: StoredText) => {
    const event = { ...text, data: JSON.parse(text.data), metadata: JSON.parse(text.metadata) };
    const [spoiltEvent = event] = deliver([event]);
    return { ...text, ...spoiltEvent, data: JSON.stringify(spoiltEvent.data), metadata: text.metadata };
  };
  const spoil = ({ events, next }: LogPage) => ({ events: deliver(events), next });
  return storeWith(sound, {
    read: async (...request) => deliver(await sound.read(...request)),
    readAll: async (options) => spoil(await sound.readAll(options)),
    readStored: async (options) => {
      const { events, next } = await sound.readStored(options);
      return { events: events.map(spoilText), next };
    },
    async *subscribe(options) {
      for await (const page of sound.subscribe(options)) yield spoil(page);
    },
    async *subscribeAsRead(options) {
      for await (const page of sound.subscribeAsRead(options))
        yield { ...spoil(page), texts: () => page.texts().map(spoilText) };
    },
  });
}
