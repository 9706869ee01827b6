// Port of the files of the click journal.
import type { ClickBatch } from "./append-clicks.ts";

/** Consecutive batches of one stream, joined. `upTo`: the number of the last. */
export type JournaledClicks = ClickBatch & { upTo: number; bytes: number };

export type JournalSize = { clicks: number; bytes: number };

/** First in, first out. Locked while open; after a crash another process finds it unlocked. */
export interface JournalFile {
  /** Stores the batches with one fsync. @throws journal_full, the file system's error; nothing is stored then */
  put(batches: readonly ClickBatch[]): void;
  /** Undefined when it is empty. At most `mostClicks`, unless a single batch has more. @throws when it can't be read */
  oldest(mostClicks: number): JournaledClicks | undefined;
  /** Once they are in the log. Deletes them with the next `put`, as an append that is repeated does no harm. */
  drop(clicks: JournaledClicks): void;
  /** Of what is not dropped. */
  size(): JournalSize;
  /** Also deletes the file when it is empty. */
  close(): void;
}

export interface JournalFiles {
  /** A new file. @throws the file system's error */
  create(): JournalFile;
  /**
   * Those that ended threads and processes have left; locked for the caller, who must close them. `onUnreadable`: called
   * once for each that can't be read, which stays as it is.
   */
  openLeft(onUnreadable: (message: string, error: unknown) => void): JournalFile[];
}
