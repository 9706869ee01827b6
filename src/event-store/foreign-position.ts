// Positions that people give, for example to continue a feed or to export a part of the log, are checked against it.
import { DomainError } from "../runtime/errors.ts";
import type { EventStore, Position } from "./port.ts";

/** A position that this log hasn't given out: of another service, or of a log that was restored from an older backup. */
export class InvalidPosition extends DomainError {
  override readonly code = "invalid_position";
}

/**
 * Refuses a position that has another form than those of this log, or lies beyond its end: a feed that continues there
 * would pass over events, and an export would be empty. @throws InvalidPosition, StoreUnavailable
 */
export async function refuseForeignPosition(
  { eventStore }: { eventStore: Pick<EventStore, "head"> },
  position: Position,
): Promise<void> {
  const head = await eventStore.head();
  const formOf = (text: string) => text.replace(/\d/g, "0");
  if (head === undefined || formOf(position) !== formOf(head) || position > head)
    throw new InvalidPosition(
      "This is not a position of this log: give one that it has shown, or leave it out",
    );
}
