// What every fold works on, and how it fails for good.
import { DomainError } from "../../runtime/errors.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import type { MonotonicClock } from "../../runtime/pause.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

export type FoldDeps = Partial<MonotonicClock> & {
  eventStore: EventStore;
  /** The unmapped store, not activeReadStore. */
  readStore: ReadStore;
  /** By which days are over. */
  clock?: () => Date;
  log: Pick<BasicLogger, "info" | "warn" | "error">;
};

/** The documents of the build are not those of this log, or some are gone: it has to be folded anew. */
export class FoldedFromElsewhere extends DomainError {
  override readonly code = "folded_from_elsewhere";
}

/** What is said of documents whose checkpoint is gone, or behind where it was. */
export function droppedOrOlder(checkpoint: string): string {
  return `the documents of ${checkpoint} were dropped, or older ones put back`;
}
