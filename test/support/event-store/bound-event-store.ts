// An event store whose methods may be taken off it, for doubles that change a few of them.
import type { EventStore } from "../../../src/event-store/port.ts";

export function bound(store: EventStore): EventStore {
  return {
    append: store.append.bind(store),
    read: store.read.bind(store),
    readAll: store.readAll.bind(store),
    subscribe: store.subscribe.bind(store),
    head: store.head.bind(store),
    close: store.close.bind(store),
  };
}
