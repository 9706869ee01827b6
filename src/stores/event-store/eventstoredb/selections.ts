// Which events of the log a call wants: as the server filters them, and as they are taken out of its answer.
import { eventTypeFilter, type Filter, type ResolvedEvent, streamNameFilter } from "@eventstore/db-client";
import { categoryOf } from "../categories.ts";
import type { RecordedEvent, StoredText } from "../port.ts";
import { recorded, storedText } from "./events.ts";
import { ALIVE, type Placed } from "./pull.ts";

export type Selection<T extends Placed> = {
  filter: Filter;
  /** The server's filter may be wider. */
  isWanted(event: T): boolean;
  read(event: ResolvedEvent): T;
};

/** What the server writes into a stream that is deleted for good. */
export const TOMBSTONE = "$streamDeleted";

const OPTIONS = {
  /** Events that the server looks through, matching or not, before it gives a sign of life. */
  maxSearchWindow: 1_000,
  // The position is not used: some servers sent it too early, twice, or ahead of events that wait here.
  checkpointReached: (subscription: { emit(event: string): boolean }) => void subscription.emit(ALIVE),
};

/** The server selects by the start of a name, which may be that of a longer category. */
export function ofCategories(categories: readonly string[]): Selection<RecordedEvent> {
  return {
    filter: streamNameFilter({ prefixes: [...categories], ...OPTIONS }),
    isWanted: ({ stream }) => categories.includes(categoryOf(stream)),
    read: recorded,
  };
}

/** All but those of the server itself, whose streams begin with `$`. */
export function everyEvent(): Selection<StoredText> {
  return {
    filter: streamNameFilter({ regex: "^[^$]", ...OPTIONS }),
    isWanted: ({ type }) => type !== TOMBSTONE,
    read: storedText,
  };
}

/** Metadata of streams, which stand in a stream `$$` with its name behind it, and tombstones. */
export function streamChanges(): Selection<StoredText> {
  return {
    filter: eventTypeFilter({ prefixes: ["$metadata", TOMBSTONE], ...OPTIONS }),
    isWanted: () => true,
    read: storedText,
  };
}
