// The log as it was at a position, so that it can be folded up to there and no further.
import type { EventStore, Position } from "./port.ts";

export function upTo(eventStore: EventStore, position: Position): EventStore {
  return {
    append: () => Promise.reject(new Error("The log of the past is only read")),
    read: async (stream, options) =>
      (await eventStore.read(stream, options)).filter((event) => event.position <= position),
    readAll: async (options) =>
      (await eventStore.readAll(options)).filter((event) => event.position <= position),
    subscribe: () => {
      throw new Error("The log of the past has an end");
    },
    head: async () => position,
    close: async () => undefined,
  };
}
