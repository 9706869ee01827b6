// Names what differs between the events of a block and its seal.
import type { RecordedEvent } from "../../stores/event-store/port.ts";
import { type LogProblem, type Place, placeOf, unpackPlaces } from "./places.ts";
import { leafOf, marksOf, type Seal } from "./seal.ts";
import { MARK_BYTES, type SealKeys } from "./seal-keys.ts";

/** An event as it was sealed. */
type Sealed = { place: Place; mark: string };
/** An event as it is now. */
type Present = { event: RecordedEvent; mark: string };

/** Whoever has them can tell events apart that somebody else could make look alike. */
export type TagKeys = Pick<SealKeys, "publicKey" | "tags">;

export type BlockComparison = {
  seal: Seal;
  /** In their order; known to differ from the seal. */
  events: readonly RecordedEvent[];
  leaves: readonly Buffer[];
  /** Of the present SECRET_KEY and earlier ones; none offline. */
  keys: readonly TagKeys[];
  /** Of a part of a block: which sealed events must be there. */
  isExpected?: (place: Place) => boolean;
};

/** So many events are looked for in each other's places, as that takes the square of their number. */
const MOST_MOVED = 100;

/** By a seal that says what was signed. Empty when all that is kept of single events is as it was. */
export function differences({ seal, events, leaves, keys, isExpected }: BlockComparison): LogProblem[] {
  const own = keys.find(({ publicKey }) => publicKey === seal.publicKey);
  const markOf = (leaf: Buffer) => hex(marksOf([leaf])) + (own ? hex(own.tags([leaf])) : "");
  const [marks, tags] = [marksIn(seal.leaves), own ? marksIn(seal.tags) : []];
  const sealed = (unpackPlaces(seal.places, seal.events) ?? []).map((place, n) => ({
    place,
    mark: `${marks[n]}${tags[n] ?? ""}`,
  }));
  const present = events.map((event, n) => ({ event, mark: markOf(leaves[n] as Buffer) }));
  const { sequence, gone, foreign } = matched(sealed, present);
  const missing = isExpected ? gone.filter(({ place }) => isExpected(place)) : gone;
  return [...outOfOrder(sequence, present), ...named(missing, foreign, markOf)];
}

/**
 * By a seal that was written anew: its tags can still be those that were made with a key, and then each event that has
 * none of them was changed or inserted. Empty when none of them is.
 */
export function differencesByTags({ seal, events, leaves, keys }: BlockComparison): LogProblem[] {
  const made = new Set(marksIn(seal.tags));
  for (const { tags } of keys) {
    const own = marksIn(tags(leaves).toString("base64"));
    const unknown = events.filter((_, n) => !made.has(own[n] as string));
    if (unknown.length < events.length)
      return unknown.map((event) => ({ ...placeOf(event), message: "was changed or inserted" }));
  }
  return [];
}

function marksIn(packed: string): string[] {
  const bytes = Buffer.from(packed, "base64");
  return Array.from({ length: Math.ceil(bytes.length / MARK_BYTES) }, (_, n) =>
    hex(bytes.subarray(n * MARK_BYTES, (n + 1) * MARK_BYTES)),
  );
}

function hex(bytes: Buffer): string {
  return bytes.toString("hex");
}

/** `sequence`: indexes of the present events that were sealed, in the order in which they were. */
function matched(sealed: readonly Sealed[], present: readonly Present[]) {
  const byMark = new Map<string, number[]>();
  for (const [n, { mark }] of present.entries()) byMark.set(mark, [...(byMark.get(mark) ?? []), n]);
  const sequence: number[] = [];
  const gone = sealed.filter(({ mark }) => {
    const found = byMark.get(mark)?.shift();
    if (found !== undefined) sequence.push(found);
    return found === undefined;
  });
  const foreign = [...byMark.values()].flat().map((n) => present[n] as Present);
  return { sequence, gone, foreign };
}

/** The fewest events that would have to be put elsewhere. */
function outOfOrder(sequence: readonly number[], present: readonly Present[]): LogProblem[] {
  const inOrder = new Set(longestIncreasing(sequence));
  return sequence
    .filter((n) => !inOrder.has(n))
    .map((n) => ({ ...placeOf((present[n] as Present).event), message: "is not in its order" }));
}

function longestIncreasing(sequence: readonly number[]): number[] {
  /** Index of the smallest last member of an increasing sequence, for each length. */
  const ends: number[] = [];
  const before: number[] = [];
  for (const [n, value] of sequence.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sequence[ends[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    before.push(low > 0 ? (ends[low - 1] as number) : -1);
    ends[low] = n;
  }
  const found: number[] = [];
  for (let n = ends.at(-1) ?? -1; n >= 0; n = before[n] as number) found.push(sequence[n] as number);
  return found;
}

/** An event where another was sealed was changed; the others were removed or inserted. */
function named(
  gone: readonly Sealed[],
  foreign: readonly Present[],
  markOf: (leaf: Buffer) => string,
): LogProblem[] {
  const byPosition = new Map(gone.map((one) => [one.place.position, one]));
  const byRevision = new Map(gone.map((one) => [revisionKey(one.place), one]));
  const isMoved = gone.length <= MOST_MOVED && foreign.length <= MOST_MOVED;
  const found: LogProblem[] = [];
  const replaced = new Set<Sealed>();
  for (const { event } of foreign) {
    const origin = isMoved && gone.find(({ place, mark }) => markOf(leafOf({ ...event, ...place })) === mark);
    const sealed = byPosition.get(event.position) ?? byRevision.get(revisionKey(event));
    if (origin) {
      const { stream, revision, position } = origin.place;
      found.push({
        ...placeOf(event),
        message: `was moved here from revision ${revision} of ${stream}, position ${position}`,
      });
    } else found.push({ ...placeOf(event), message: sealed ? "was changed" : "was inserted" });
    if (sealed) replaced.add(sealed);
    if (origin) replaced.add(origin);
  }
  const removed = gone.filter((one) => !replaced.has(one));
  return [...found, ...removed.map(({ place }) => ({ ...place, message: "was removed" }))];
}

function revisionKey({ stream, revision }: Place): string {
  return `${revision}@${stream}`;
}
