// Positions from outside of the log, given by people or kept as checkpoints, are checked against it.
import { DomainError } from "../runtime/errors.ts";
import type { EventStore, Position } from "./port.ts";

/** A position that this log hasn't given out: of another service, or of a log that was restored from an older backup. */
export class InvalidPosition extends DomainError {
  override readonly code = "invalid_position";
  constructor(options?: ErrorOptions) {
    super("This is not a position of this log: give one that it has shown, or leave it out", options);
  }
}

type Deps = { eventStore: Pick<EventStore, "head"> };

/** Whether it has the form of this log's positions, and lies before its end. @throws StoreUnavailable */
export async function isOwnPosition({ eventStore }: Deps, position: Position): Promise<boolean> {
  const head = await eventStore.head();
  const formOf = (text: string) => text.replace(/\d/g, "0");
  return head !== undefined && formOf(position) === formOf(head) && position <= head;
}

/**
 * Refuses a position that isn't of this log: a feed that continues there would pass over events, and an export would be
 * empty. @throws InvalidPosition, StoreUnavailable
 */
export async function refuseForeignPosition(deps: Deps, position: Position): Promise<void> {
  if (!(await isOwnPosition(deps, position))) throw new InvalidPosition();
}
