// Positions from outside of the log, given by people or kept as checkpoints, are checked against it.
import { Refused } from "../../runtime/refused.ts";
import type { EventStore, Position, RecordedEvent } from "./port.ts";

type Deps = { eventStore: Pick<EventStore, "head"> };

/** Whether it has the form of this log's positions, and lies before its end. @throws StoreUnavailable */
export async function isOwnPosition({ eventStore }: Deps, position: Position): Promise<boolean> {
  const head = await eventStore.head();
  const formOf = (text: string) => text.replace(/\d/g, "0");
  return head !== undefined && formOf(position) === formOf(head) && position <= head;
}

/**
 * Refuses a position that isn't of this log: a feed that continues there would pass over events, and an export would be
 * empty. @throws invalid_position, StoreUnavailable
 */
export async function refuseForeignPosition(deps: Deps, position: Position): Promise<void> {
  if (!(await isOwnPosition(deps, position))) throw new Refused("invalid_position");
}

/** Whether the log has this event there. `categories`: those that it may be of. @throws StoreUnavailable */
export async function isOfThisLog(
  { eventStore }: { eventStore: Pick<EventStore, "head" | "readAll"> },
  { position, eventId }: { position: Position; eventId: string },
  categories: readonly string[],
): Promise<boolean> {
  if (!(await isOwnPosition({ eventStore }, position))) return false;
  const [event] = await eventStore.readAll({ from: position, categories, limit: 1 });
  return event?.position === position && event.id === eventId;
}

/** The event at the end of the log. `categories`: of all events. @throws StoreUnavailable */
export async function newestEvent(
  { eventStore }: { eventStore: Pick<EventStore, "head" | "readAll"> },
  categories: readonly string[],
): Promise<RecordedEvent | undefined> {
  const head = await eventStore.head();
  if (head === undefined) return undefined;
  return (await eventStore.readAll({ from: head, categories, limit: 1 }))[0];
}
