// Port of the check of an embedded log's own order: whether each reader finds the events that are there.
import type { Position } from "./port.ts";

/** `position`: empty when no single event is concerned. */
export type MisfiledEvent = { stream: string; revision: number; position: Position; message: string };

export interface LogFiling {
  /** Events behind a position, or all, that are in the log and that some reader misses, and what can't be read at all. */
  misfiled(after: Position | undefined): Promise<MisfiledEvent[]>;
  close(): void;
}
