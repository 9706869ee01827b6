// Approximate share of the log before a position, for progress displays.
import { type Position, START } from "./port.ts";

/** 0 to 1; positions count events on SQLite and bytes on EventStoreDB, so use it for display only. */
export function logProgress(position: Position, head: Position): number {
  if (head === START) return 1;
  return position === START ? 0 : Math.min(1, Number.parseInt(position, 10) / Number.parseInt(head, 10));
}
