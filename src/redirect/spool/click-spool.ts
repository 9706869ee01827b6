// What the recorder asks of the place where clicks wait while the event store is away.
import { DomainError } from "../../runtime/errors.ts";
import type { ClickBatch } from "./append-once.ts";

/** Batches that follow each other in one stream, joined. `upTo`: what `drop` takes once they are in the store. */
export type SpooledClicks = ClickBatch & { upTo: number };

export type SpoolSize = { clicks: number; bytes: number };

/** `numbers`: of the batches that were put, the first ones of those given. `full`: why it is not all of them. */
export type PutClicks = { numbers: number[]; full: SpoolFull | undefined };

/** One thread's clicks, first in, first out. Nobody else can open it while it is open; a crash leaves it behind. */
export interface ClickSpool {
  /** On the disk, with one fsync, when it returns. @throws what the disk says; nothing is kept then */
  put(batches: readonly ClickBatch[]): PutClicks;
  /** Undefined when nothing waits. Joins at most `mostClicks`, unless a single append has more. */
  oldest(mostClicks: number): SpooledClicks | undefined;
  /** Forgets everything up to a number. */
  drop(upTo: number): void;
  size(): SpoolSize;
  /** Destroys it if nothing waits in it. */
  close(): void;
}

export interface ClickSpools {
  /** A new one, for the calling thread alone. */
  openOwn(): ClickSpool;
  /**
   * Left by threads and processes that are dead, oldest first, and locked for the caller now, who closes them.
   * `onTrouble`: called for one that can't be read.
   */
  openOrphaned(onTrouble: (message: string, error: unknown) => void): ClickSpool[];
}

/** The limit, or the disk's end, is reached: clicks have to wait where they are. */
export class SpoolFull extends DomainError {
  override readonly code = "spool_full";
}
