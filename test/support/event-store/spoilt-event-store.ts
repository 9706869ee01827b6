// A fault double: a real event store whose chosen events are delivered as an adapter delivers what was spoilt by hand.
import type { EventStore, Position, RecordedEvent } from "../../../src/stores/event-store/port.ts";
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
  return storeWith(sound, {
    read: async (...request) => deliver(await sound.read(...request)),
    readAll: async (options) => deliver(await sound.readAll(options)),
    readStored: async (options) =>
      (await sound.readStored(options)).map((text) => {
        const event = { ...text, data: JSON.parse(text.data), metadata: JSON.parse(text.metadata) };
        const [delivered = event] = deliver([event]);
        return { ...text, ...delivered, data: JSON.stringify(delivered.data), metadata: text.metadata };
      }),
    async *subscribe(options) {
      for await (const events of sound.subscribe(options)) yield deliver(events);
    },
  });
}
