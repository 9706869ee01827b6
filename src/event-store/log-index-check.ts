// Port of the check of an embedded log's columns and indexes: whether each reader finds the events that are there.
import type { LogProblem } from "./log-archive.ts";
import type { Position } from "./port.ts";

export interface LogIndexCheck {
  /**
   * Events behind a position, or all, that are in the log and that some reader misses, and what can't be read at all. The
   * position is empty when no single event is concerned.
   */
  problems(after: Position | undefined): Promise<LogProblem[]>;
  close(): void;
}
