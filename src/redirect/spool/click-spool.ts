// Port of the click spool: durable local storage for clicks while the event store is unavailable.
import type { Refused } from "../../runtime/refused.ts";
import type { ClickBatch } from "./append-once.ts";

/** Consecutive batches of one stream, joined. `upTo`: the argument for `drop` once they are in the store. */
export type SpooledClicks = ClickBatch & { upTo: number };

export type SpoolSize = { clicks: number; bytes: number };

/** `numbers`: one for each stored batch, from the first on. `full`: why the remaining ones were not stored. */
export type PutClicks = { numbers: number[]; full: Refused | undefined };

/** FIFO of one thread's clicks. Locked while open; after a crash it remains as an orphaned spool. */
export interface ClickSpool {
  /** Stores the batches with one fsync. @throws the file system's error, and nothing is stored then */
  put(batches: readonly ClickBatch[]): PutClicks;
  /** Undefined when the spool is empty. At most `mostClicks`, unless a single batch has more. */
  oldest(mostClicks: number): SpooledClicks | undefined;
  /** Deletes all batches up to this number. */
  drop(upTo: number): void;
  size(): SpoolSize;
  /** Also deletes the file when the spool is empty. */
  close(): void;
}

export interface ClickSpools {
  /** Creates the calling thread's own spool. */
  openOwn(): ClickSpool;
  /**
   * Spools of crashed threads and processes. They are locked for the caller, who must close them.
   * `onUnreadable`: called for each spool that can't be read.
   */
  openOrphaned(onUnreadable: (message: string, error: unknown) => void): ClickSpool[];
}
