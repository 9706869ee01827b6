// Port of the files of the click journal.
import type { ClickBatch, JournalSize } from "./append-clicks.ts";

/** Consecutive batches of one stream, joined. `upTo`: the number of the last. */
export type JournaledClicks = ClickBatch & { upTo: number; bytes: number };

/** First in, first out. Locked while open; after a crash another process finds it unlocked. */
export interface JournalFile {
  /** Of the log that the clicks are for; undefined before it was first known. */
  readonly logId: string | undefined;
  /** Stores the batches with one fsync. @throws journal_full, the file system's error; nothing is stored then */
  put(batches: readonly ClickBatch[], logId?: string): void;
  /** Undefined when it is empty. At most `mostClicks`, unless a single batch has more. @throws when it can't be read */
  oldest(mostClicks: number): JournaledClicks | undefined;
  /** Once they are in the log. Deletes them with the next `put`, as an append that is repeated does no harm. */
  drop(clicks: JournaledClicks): void;
  /** Of what is not dropped. */
  size(): JournalSize;
  /** Also deletes the file when it is empty. */
  close(): void;
}

export type Say = (message: string, error?: unknown) => void;

export interface JournalFiles {
  /** A new file. @throws the file system's error */
  create(): JournalFile;
  /**
   * Those that ended threads and processes have left; locked for the caller, who must close them. Damaged ones are replaced;
   * those of another log or program stay as they are. `say`: told of each once.
   */
  openLeft(logId: string, say: Say): JournalFile[];
  /**
   * A new file with what of a damaged one can be read, and where it is known how many clicks are lost, with the event that
   * says so; the damaged one is closed and kept under another name. @throws the file system's error: nothing has changed then
   */
  replaceDamaged(file: JournalFile, error: unknown, say: Say): JournalFile;
}
