// A fault double: a real event store that hands out batches of odd sizes and delivers events again.
import type { EventStore, RecordedEvent } from "../../../src/stores/event-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

/**
 * Batches take the sizes in turn; `again` is how many events before the position asked for are repeated. Only where several
 * categories are read: readers of one page through the log, and take a short page for its end, as the port promises.
 */
export function unrulyEventStore(sound: EventStore, sizes: readonly number[], again: number): EventStore {
  let reads = 0;
  const passed = new Map<string, RecordedEvent>();
  return storeWith(sound, {
    async readAll(options) {
      const { after, categories, limit } = options;
      if (categories.length === 1 || after === undefined) return await sound.readAll(options);
      const size = Math.min(limit, sizes[reads++ % sizes.length] ?? limit);
      const fresh = await sound.readAll({ after, categories, limit: size });
      for (const event of fresh.events) passed.set(event.position, event);
      if (again === 0 || fresh.events.length === 0) return fresh;
      const before = [...passed.values()].filter(({ position }) => position <= after);
      return { events: [...before.slice(-again), ...fresh.events], next: fresh.next };
    },
  });
}
