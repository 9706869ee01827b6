// How much of the log lies before a position, for progress that people watch.
import type { Position } from "./port.ts";

/** 0 to 1, by what the adapters count: events on SQLite, bytes on EventStoreDB. Never for deciding anything. */
export function logProgress(position: Position, head: Position): number {
  const all = Number.parseInt(head, 10);
  return all > 0 ? Math.min(1, Number.parseInt(position, 10) / all) : 1;
}
