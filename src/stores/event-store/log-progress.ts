// Approximate share of the log before a position, for progress displays.
import type { Position } from "./port.ts";

/** 0 to 1; positions count events on SQLite and bytes on EventStoreDB, so use it for display only. */
export function logProgress(position: Position, head: Position): number {
  const all = Number.parseInt(head, 10);
  return all > 0 ? Math.min(1, Number.parseInt(position, 10) / all) : 1;
}
