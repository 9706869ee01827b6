// Asking again and again whether anything of some streams has come, without searching the same stretch twice.
import type { EventStore, Position, RecordedEvent } from "./port.ts";

export type NextEvent = (after: Position | undefined) => Promise<RecordedEvent | undefined>;

/**
 * The first event after a position, of streams with one of the prefixes. A stretch that was found empty is
 * remembered: a store may have to look through millions of other events to say so.
 */
export function nextEventFinder(
  eventStore: Pick<EventStore, "head" | "readAll">,
  prefixes: readonly string[],
): NextEvent {
  let empty: { after: Position; upTo: Position } | undefined;
  return async (after = "") => {
    const from = empty && after >= empty.after && after < empty.upTo ? empty.upTo : after;
    const head = (await eventStore.head()) ?? "";
    const [event] = await eventStore.readAll({ after: from || undefined, prefixes, limit: 1 });
    // Stretches that touch are one; another one that ends later is worth more than what was known.
    if (!event && head >= from)
      empty = { after: empty && from === empty.upTo ? empty.after : after, upTo: head };
    return event;
  };
}
