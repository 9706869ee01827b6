// Positions from outside of the log, given by people or kept as checkpoints, are checked against it.
import { type EventStore, type Position, START } from "./port.ts";

type Deps = { eventStore: Pick<EventStore, "head"> };

/** Whether it is START, or has the form of this log's positions and lies before its end. @throws StoreUnavailable */
export async function isOwnPosition({ eventStore }: Deps, position: Position): Promise<boolean> {
  if (position === START) return true;
  const head = await eventStore.head();
  const formOf = (text: string) => text.replace(/\d/g, "0");
  return formOf(position) === formOf(head) && position <= head;
}

/** Whether the log has this event there, as every log has none at START. @throws StoreUnavailable */
export async function isOfThisLog(
  { eventStore }: { eventStore: Pick<EventStore, "head" | "idAt"> },
  { position, eventId }: { position: Position; eventId: string },
): Promise<boolean> {
  if (position === START) return true;
  return (await isOwnPosition({ eventStore }, position)) && (await eventStore.idAt(position)) === eventId;
}
