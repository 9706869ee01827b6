// A fault double: a real event store that hands out batches of odd sizes and delivers events again.
import type { EventStore } from "../../../src/event-store/port.ts";

/** Batches take the sizes in turn; `again` is how many events before the position asked for are repeated. */
export function unrulyEventStore(sound: EventStore, sizes: readonly number[], again: number): EventStore {
  let reads = 0;
  return {
    append: (stream, expected, events) => sound.append(stream, expected, events),
    read: (stream, options) => sound.read(stream, options),
    async readAll({ after, prefixes, limit }) {
      const size = Math.min(limit, sizes[reads++ % sizes.length] ?? limit);
      const fresh = await sound.readAll({ after, prefixes, limit: size });
      if (after === undefined || again === 0 || fresh.length === 0) return fresh;
      const passed = await sound.readAll({ prefixes, limit: 100_000 });
      return [...passed.filter(({ position }) => position <= after).slice(-again), ...fresh];
    },
    subscribe: (options) => sound.subscribe(options),
    head: () => sound.head(),
    close: () => sound.close(),
  };
}
