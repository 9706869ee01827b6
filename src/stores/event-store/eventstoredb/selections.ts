// Which events of the log a call wants: as the server filters them, and as they are taken out of its answer.
import {
  eventTypeFilter,
  type Filter,
  type Position as LogPosition,
  type ResolvedEvent,
  streamNameFilter,
} from "@eventstore/db-client";
import { categoryOf } from "../categories.ts";
import type { Position, RecordedEvent, StoredText } from "../port.ts";
import { positionText, recorded, storedText } from "./events.ts";
import { CHECKPOINT, type Placed } from "./pull.ts";

export type Selection<T extends Placed> = {
  filter: Filter;
  /** The server's filter may be wider. */
  isWanted(event: T): boolean;
  read(event: ResolvedEvent): T;
};

/** What precedes a stream's name in that of its metadata. */
export const METADATA = "$$";

/** What the server writes into a stream that is deleted for good. */
export const TOMBSTONE = "$streamDeleted";

type Emitter = { emit(event: string, position: Position): boolean };

const OPTIONS = {
  /** Events that the server looks through, matching or not, before it says up to where it looked. */
  maxSearchWindow: 1_000,
  checkpointReached: (subscription: Emitter, position: LogPosition) =>
    void subscription.emit(CHECKPOINT, positionText(position)),
};

/** The server selects by the start of a name, which may be that of a longer category. */
export function ofCategories(categories: readonly string[]): Selection<RecordedEvent> {
  return {
    filter: streamNameFilter({ prefixes: [...categories], ...OPTIONS }),
    isWanted: ({ stream }) => categories.includes(categoryOf(stream)),
    read: recorded,
  };
}

/** The same as texts, without what the server wrote into a stream. */
export function textsOf(categories: readonly string[]): Selection<StoredText> {
  const isWanted = (event: StoredText) => isProgram(event) && categories.includes(categoryOf(event.stream));
  return { filter: ofCategories(categories).filter, isWanted, read: (event) => storedText(event) };
}

/** Those of `ofCategories` as `textsOf` gives them. `sources`: of each event. */
export function textsOfEvents(
  events: readonly RecordedEvent[],
  sources: readonly ResolvedEvent[],
): StoredText[] {
  return events.map((event, n) => storedText(sources[n] as ResolvedEvent, event)).filter(isProgram);
}

/** Not what the server wrote into a stream. */
function isProgram({ type }: StoredText): boolean {
  return type !== TOMBSTONE;
}

/** Of streams of the categories. */
export function metadataOf(categories: readonly string[]): Selection<StoredText> {
  return {
    filter: streamNameFilter({ prefixes: categories.map((category) => METADATA + category), ...OPTIONS }),
    isWanted: ({ stream }) => categories.includes(categoryOf(stream.slice(METADATA.length))),
    read: (event) => storedText(event),
  };
}

/** They stand in the streams themselves, so they are chosen by their type, whosever they are. */
export function tombstonesOf(categories: readonly string[]): Selection<StoredText> {
  return {
    filter: eventTypeFilter({ prefixes: [TOMBSTONE], ...OPTIONS }),
    isWanted: ({ stream }) => categories.includes(categoryOf(stream)),
    read: (event) => storedText(event),
  };
}
