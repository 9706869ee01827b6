// Port of the archive of an embedded log: files that hold old events in the log's place (docs/archive.md).
import { StoreFailed } from "../connections/errors.ts";
import { DomainError } from "../runtime/errors.ts";
import type { Position } from "./port.ts";

/** Events of one UTC day, by the time of recording of their batches, that lie in the log. `bytes`: their room there. */
export type ArchivableDay = { day: string; from: Position; to: Position; events: number; bytes: number };

/** `file`: its name in the folder of archives. `bytes`: of the file. `sha256`: of the whole file, hex. */
export type ArchiveFile = Omit<ArchivableDay, "bytes"> & { file: string; bytes: number; sha256: string };

/** Numbers of the seals that cover the events, both included; see src/audit/seals. */
export type SealRange = { from: number; to: number };

/** What is wrong with an event, or with a file: then at the last event of the damaged part, in the order of the log. */
export type LogProblem = { stream: string; revision: number; position: Position; message: string };

/**
 * `written`: a part of the file; `renamed`: it is complete and has its name; `recorded`: the log knows it; `moved`: a
 * part of the events lies in the file alone. `events`: of the day, so far.
 */
export type ArchiveProgress = {
  step: "written" | "renamed" | "recorded" | "moved";
  file: string;
  events: number;
};

export type LogSize = { bytes: number; freeBytes: number };

/** For one process, beside any number of others that read the log and append to it. */
export interface LogArchive {
  /** Days that lie in the log and were recorded before a time, the oldest first. */
  days(before: Date): ArchivableDay[];
  /**
   * Moves the events of a day to a file. They can be read all the while.
   * @throws ArchiveConflict when another process archives the same events
   */
  archive(
    day: ArchivableDay,
    seals: SealRange,
    onProgress?: (progress: ArchiveProgress) => void,
  ): Promise<ArchiveFile>;
  /** Moves what an interrupted run has left in the log although a file has it. Returns these files. */
  finish(onProgress?: (progress: ArchiveProgress) => void): Promise<ArchiveFile[]>;
  /** All files, the oldest first. */
  files(): ArchiveFile[];
  /** Puts the events of a file back into the log, and removes the file. */
  restore(file: string, onProgress?: (events: number) => void): Promise<void>;
  /** Reads every file, and names those that are not what was archived. */
  problems(): Promise<LogProblem[]>;
  size(): LogSize;
  /** Gives free room of the log back to the file system. Appends wait meanwhile. */
  vacuum(): void;
  close(): void;
}

/** A file of the archive is missing or is not what was archived: reads that need it fail, rather than leave events out. */
export class ArchiveUnreadable extends StoreFailed {}

/** The events are not in the log, or not in the file, as the caller believes. */
export class ArchiveConflict extends DomainError {
  override readonly code = "archive_conflict";
}
