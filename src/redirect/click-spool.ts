// What the recorder asks of the place where clicks wait while the event store is away.
import { DomainError } from "../errors.ts";
import type { NewEvent } from "../event-store/port.ts";
import type { ErrorFields } from "../runtime/error-fields.ts";

/** Appends that follow each other in one stream, joined. `upTo`: what `drop` takes once they are in the store. */
export type SpooledClicks = { upTo: number; stream: string; expected: number | "none"; events: NewEvent[] };

export type SpoolSize = { clicks: number; bytes: number };

/** `full`: there was no room for the clicks that should have gone in last. */
export type SpoolReport = SpoolSize & { type: "spool"; full: boolean; message?: string; err?: ErrorFields };

/** One thread's clicks, first in, first out. Nobody else can open it while it is open; a crash leaves it behind. */
export interface ClickSpool {
  /** On the disk when it returns its number. @throws SpoolFull, or what the disk says; nothing is kept then */
  put(stream: string, expected: number | "none", events: readonly NewEvent[]): number;
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
   * `trouble` is called for one that can't be read.
   */
  openLeft(trouble: (message: string, error: unknown) => void): ClickSpool[];
}

/** The limit, or the disk's end, is reached: clicks have to wait where they are. */
export class SpoolFull extends DomainError {
  override readonly code = "spool_full";
}
